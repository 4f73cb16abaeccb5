"""SphereFace, ResNet-50, CASIA-WebFace at 144 x 144, in P2SGrad's recipe.

The weight of the margin grows as in the authors' Caffe code.

Paper: Liu et al., "SphereFace: Deep Hypersphere Embedding for Face Recognition", CVPR 2017, https://arxiv.org/abs/1704.08063

Command: tools/dist_train.sh configs/sphereface/sphereface_resnet50_8xb64_casia-144px.py 8

Expected: not run here.
"""
_base_ = '../_base_/recipes/p2sgrad_casia-144px.py'

model = dict(head=dict(loss=dict(type='SphereFaceLoss', m=4, lam=dict(base=1000., gamma=.12, power=1., min=5.))))
