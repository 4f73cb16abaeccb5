"""CurricularFace, IResNet-100, MS1MV2, in its authors' recipe: 24 epochs with steps at 10, 18, 22; batch norms are not decayed.

The network is the older one of face.evoLVe: no batch norm between convolution and PReLU, no weights in the first shortcut, dropout 0.4.

Paper: Huang et al., "CurricularFace: Adaptive Curriculum Learning Loss for Deep Face Recognition", CVPR 2020,
https://arxiv.org/abs/2004.00288

Command: tools/dist_train.sh configs/curricularface/curricularface_iresnet100_4xb128_ms1mv2.py 4

Expected: not run here; the authors report 99.80 % LFW, 98.36 % CFP-FP, 98.37 % AgeDB, and 94.86 % and 96.15 % TAR at FAR 1e-4 on IJB-B
and IJB-C.
"""
_base_ = [
    '../_base_/models/iresnet50.py',
    '../_base_/datasets/ms1mv2.py',
    '../_base_/schedules/sgd_4xb128_24e.py',
    '../_base_/evaluation/verification.py',
    '../_base_/default_runtime.py',
]

model = dict(
    backbone=dict(depth=100, mid_norm=False, subsample_shortcut=True),
    neck=dict(dropout=.4),
    head=dict(num_classes=85742, loss=dict(type='CurricularFaceLoss', s=64., m=.5)))
train_dataloader = dict(batch_size=128)
