"""CurricularFace, IResNet-100, MS1MV2, in GB-CosFace's recipe (24 epochs with steps at 4, 9, 14, 19).

Paper: Huang et al., "CurricularFace: Adaptive Curriculum Learning Loss for Deep Face Recognition", CVPR 2020,
https://arxiv.org/abs/2004.00288

Command: tools/dist_train.sh configs/curricularface/curricularface_iresnet100_8xb64_ms1mv2.py 8

Expected: not run here.
"""
_base_ = '../_base_/recipes/gb-cosface_ms1mv2.py'

model = dict(head=dict(loss=dict(type='CurricularFaceLoss', s=64., m=.5)))
