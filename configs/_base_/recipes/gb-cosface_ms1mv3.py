# All but the loss of GB-CosFace's experiments: IResNet-50, MS1MV3, 8 x 64 images, 24 epochs, flip alone, prototypes of length one.
_base_ = [
    '../models/iresnet50.py',
    '../datasets/ms1mv3.py',
    '../schedules/sgd_8xb64_24e.py',
    '../evaluation/verification.py',
    '../default_runtime.py',
]

model = dict(head=dict(num_classes=93431, init_std=512**-.5))
train_dataloader = dict(batch_size=64)
