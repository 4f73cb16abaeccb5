"""GB-CosFace, IResNet-100, MS1MV2, 24 epochs with steps at 4, 9, 14, 19.

Paper: Chen et al., "GB-CosFace: Rethinking Softmax-Based Face Recognition from the Perspective of Open Set Classification", ACCV 2022,
https://arxiv.org/abs/2111.11186

Command: tools/dist_train.sh configs/gb_cosface/gb-cosface_iresnet100_8xb64_ms1mv2.py 8

Expected: not run here; the authors report gains over CosFace of 0.36 to 5.30 points of IJB-C TAR between FAR 1e-4 and 1e-6.
"""
_base_ = [
    '../_base_/models/iresnet50.py',
    '../_base_/datasets/ms1mv2.py',
    '../_base_/schedules/sgd_8xb64_24e.py',
    '../_base_/evaluation/verification.py',
    '../_base_/default_runtime.py'
]

model = dict(backbone=dict(depth=100), head=dict(num_classes=85742, loss=dict(type='GBCosFaceLoss', s=32., m=.16, alpha=.15, gamma=.01)))
train_dataloader = dict(batch_size=64)
