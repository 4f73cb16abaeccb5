"""CurricularFace, ResNet-50, CASIA-WebFace at 144 x 144, in P2SGrad's recipe.

Paper: Huang et al., "CurricularFace: Adaptive Curriculum Learning Loss for Deep Face Recognition", CVPR 2020,
https://arxiv.org/abs/2004.00288

Command: tools/dist_train.sh configs/curricularface/curricularface_resnet50_8xb64_casia-144px.py 8

Expected: not run here.
"""
_base_ = '../_base_/recipes/p2sgrad_casia-144px.py'

model = dict(head=dict(loss=dict(type='CurricularFaceLoss', s=64., m=.5)))
