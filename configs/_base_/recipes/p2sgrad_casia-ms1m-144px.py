# All but the loss of P2SGrad's experiments for MegaFace and IJB-C: Inception-ResNet, CASIA-WebFace and MS-Celeb-1M at 144 x 144, 512 images
# a batch. Learning rate, steps and decay are not known to us from the paper: those of GB-CosFace for the same batch stand in.
_base_ = [
    '../models/inception_resnet_144px.py',
    '../datasets/casia_ms1m_144px.py',
    '../schedules/sgd_8xb64_24e.py',
    '../evaluation/verification.py',
    '../default_runtime.py',
]

model = dict(head=dict(num_classes=96317))
train_dataloader = dict(batch_size=64)
