# All but the loss of P2SGrad's experiments: ResNet-50, CASIA-WebFace at 144 x 144, 512 images a batch. Learning rate, steps and decay are
# not known to us from the paper: those of GB-CosFace for the same batch stand in.
_base_ = [
    '../models/resnet50_144px.py',
    '../datasets/casia_webface_144px.py',
    '../schedules/sgd_8xb64_24e.py',
    '../evaluation/verification.py',
    '../default_runtime.py',
]

model = dict(head=dict(num_classes=10575))
train_dataloader = dict(batch_size=64, num_workers=4)
