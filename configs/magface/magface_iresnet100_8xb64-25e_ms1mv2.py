"""MagFace, IResNet-100, MS1MV2, in its authors' recipe: BGR from 0 to 1, 25 epochs with steps at 10, 18, 22.

The margin ends at 90 degrees, as in the authors' code ("easy"). The authors' network drops whole channels of the last map, and its
running statistics have the momentum 0.9; here single values are dropped, and the momentum is 0.1.

Paper: Meng, Zhao, Huang & Zhou, "MagFace: A Universal Representation for Face Recognition and Quality Assessment", CVPR 2021,
https://arxiv.org/abs/2103.06627

Command: tools/dist_train.sh configs/magface/magface_iresnet100_8xb64-25e_ms1mv2.py 8

Expected: not run here; the authors report IJB-B 94.51 % and IJB-C 95.97 % TAR at FAR 1e-4, as AdaFace's paper quotes them.
"""
_base_ = [
    '../_base_/models/iresnet50.py',
    '../_base_/datasets/ms1mv2.py',
    '../_base_/schedules/sgd_8xb64_25e.py',
    '../_base_/evaluation/verification.py',
    '../_base_/default_runtime.py',
]

model = dict(
    data_preprocessor=dict(mean=(0., 0., 0.), std=(255., 255., 255.), color='BGR'),
    backbone=dict(depth=100, eps=2e-5),
    neck=dict(dropout=.4, eps=2e-5),
    head=dict(
        num_classes=85742,
        init_std=512**-.5,
        loss=dict(type='MagFaceLoss', s=64., l_a=10., u_a=110., l_m=.45, u_m=.8, lambda_g=35.)))
train_dataloader = dict(batch_size=64)
