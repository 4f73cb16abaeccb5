"""CurricularFace, IResNet-50, MS1MV3, in insightface's recipe (20 epochs, polynomial decay).

Paper: Huang et al., "CurricularFace: Adaptive Curriculum Learning Loss for Deep Face Recognition", CVPR 2020,
https://arxiv.org/abs/2004.00288

Command: tools/dist_train.sh configs/curricularface/curricularface_iresnet50_8xb128_ms1mv3.py 8

Expected: not run here.
"""
_base_ = '../_base_/recipes/insightface_ms1mv3.py'

model = dict(head=dict(loss=dict(type='CurricularFaceLoss', s=64., m=.5)))
