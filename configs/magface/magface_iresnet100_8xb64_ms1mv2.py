"""MagFace, IResNet-100, MS1MV2, in GB-CosFace's recipe (24 epochs with steps at 4, 9, 14, 19).

The margin ends at 90 degrees, as in the authors' code ("easy").

Paper: Meng, Zhao, Huang & Zhou, "MagFace: A Universal Representation for Face Recognition and Quality Assessment", CVPR 2021,
https://arxiv.org/abs/2103.06627

Command: tools/dist_train.sh configs/magface/magface_iresnet100_8xb64_ms1mv2.py 8

Expected: not run here.
"""
_base_ = '../_base_/recipes/gb-cosface_ms1mv2.py'

model = dict(head=dict(loss=dict(type='MagFaceLoss', s=64., l_a=10., u_a=110., l_m=.45, u_m=.8, lambda_g=35.)))
