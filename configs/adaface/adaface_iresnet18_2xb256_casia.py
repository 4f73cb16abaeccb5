"""AdaFace, IResNet-18, CASIA-WebFace, BGR input, 26 epochs with steps at 12, 20, 24; the paper's augmentation.

Follows the authors' code: the weight of a new batch in the running statistics is 0.01 where the paper prints 0.99, the hue stays as it
is, and g_add is multiplied by s. Their script for this set is not published; this is the one for MS1MV2.

Paper: Kim, Jain & Liu, "AdaFace: Quality Adaptive Margin for Face Recognition", CVPR 2022, https://arxiv.org/abs/2204.00964

Command: tools/dist_train.sh configs/adaface/adaface_iresnet18_2xb256_casia.py 2

Expected: not run here; the authors report 92.82 % on average over LFW, CFP-FP, CPLFW, CALFW and AgeDB.
"""
_base_ = '../_base_/recipes/adaface_casia.py'

model = dict(backbone=dict(depth=18), head=dict(loss=dict(type='AdaFaceLoss', s=64., m=.4, h=.333)))
