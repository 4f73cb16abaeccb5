"""AdaFace, IResNet-50, MS1MV3, in insightface's recipe (20 epochs, polynomial decay).

Paper: Kim, Jain & Liu, "AdaFace: Quality Adaptive Margin for Face Recognition", CVPR 2022, https://arxiv.org/abs/2204.00964

Command: tools/dist_train.sh configs/adaface/adaface_iresnet50_8xb128_ms1mv3.py 8

Expected: not run here.
"""
_base_ = '../_base_/recipes/insightface_ms1mv3.py'

model = dict(head=dict(loss=dict(type='AdaFaceLoss', s=64., m=.4, h=.333)))
