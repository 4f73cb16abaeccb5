"""SphereFace, IResNet-50, MS1MV3, in insightface's recipe (20 epochs, polynomial decay).

The weight of the margin grows as in the authors' Caffe code.

Paper: Liu et al., "SphereFace: Deep Hypersphere Embedding for Face Recognition", CVPR 2017, https://arxiv.org/abs/1704.08063

Command: tools/dist_train.sh configs/sphereface/sphereface_iresnet50_8xb128_ms1mv3.py 8

Expected: not run here.
"""
_base_ = '../_base_/recipes/insightface_ms1mv3.py'

model = dict(head=dict(loss=dict(type='SphereFaceLoss', m=4, lam=dict(base=1000., gamma=.12, power=1., min=5.))))
