"""CurricularFace, IResNet-100, MS1MV2, in AdaFace's recipe with its augmentation (26 epochs with steps at 12, 20, 24).

Paper: Huang et al., "CurricularFace: Adaptive Curriculum Learning Loss for Deep Face Recognition", CVPR 2020,
https://arxiv.org/abs/2004.00288

Command: tools/dist_train.sh configs/curricularface/curricularface_iresnet100_2xb256_ms1mv2.py 2

Expected: not run here.
"""
_base_ = '../_base_/recipes/adaface_ms1mv2.py'

model = dict(backbone=dict(depth=100), head=dict(loss=dict(type='CurricularFaceLoss', s=64., m=.5)))
