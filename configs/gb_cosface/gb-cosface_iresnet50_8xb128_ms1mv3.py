"""GB-CosFace, IResNet-50, MS1MV3, in insightface's recipe (20 epochs, polynomial decay).

Paper: Chen et al., "GB-CosFace: Rethinking Softmax-Based Face Recognition from the Perspective of Open Set Classification", ACCV 2022,
https://arxiv.org/abs/2111.11186

Command: tools/dist_train.sh configs/gb_cosface/gb-cosface_iresnet50_8xb128_ms1mv3.py 8

Expected: not run here.
"""
_base_ = '../_base_/recipes/insightface_ms1mv3.py'

model = dict(head=dict(loss=dict(type='GBCosFaceLoss', s=32., m=.16, alpha=.15, gamma=.01)))
