# All but the loss of insightface's arcface_torch: IResNet-50, MS1MV3, 8 x 128 images, 20 epochs. The official runs use fp16: --amp.
_base_ = [
    '../models/iresnet50.py',
    '../datasets/ms1mv3.py',
    '../schedules/sgd_8xb128_20e.py',
    '../evaluation/verification.py',
    '../default_runtime.py',
]

model = dict(head=dict(num_classes=93431))
train_dataloader = dict(batch_size=128)
