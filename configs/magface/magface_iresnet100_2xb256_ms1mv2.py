"""MagFace, IResNet-100, MS1MV2, in AdaFace's recipe with its augmentation (26 epochs with steps at 12, 20, 24).

The margin ends at 90 degrees, as in the authors' code ("easy").

Paper: Meng, Zhao, Huang & Zhou, "MagFace: A Universal Representation for Face Recognition and Quality Assessment", CVPR 2021,
https://arxiv.org/abs/2103.06627

Command: tools/dist_train.sh configs/magface/magface_iresnet100_2xb256_ms1mv2.py 2

Expected: not run here.
"""
_base_ = '../_base_/recipes/adaface_ms1mv2.py'

model = dict(backbone=dict(depth=100), head=dict(loss=dict(type='MagFaceLoss', s=64., l_a=10., u_a=110., l_m=.45, u_m=.8, lambda_g=35.)))
