"""SphereFace, IResNet-100, MS1MV2, in GB-CosFace's recipe (24 epochs with steps at 4, 9, 14, 19).

The weight of the margin grows as in the authors' Caffe code.

Paper: Liu et al., "SphereFace: Deep Hypersphere Embedding for Face Recognition", CVPR 2017, https://arxiv.org/abs/1704.08063

Command: tools/dist_train.sh configs/sphereface/sphereface_iresnet100_8xb64_ms1mv2.py 8

Expected: not run here.
"""
_base_ = '../_base_/recipes/gb-cosface_ms1mv2.py'

model = dict(head=dict(loss=dict(type='SphereFaceLoss', m=4, lam=dict(base=1000., gamma=.12, power=1., min=5.))))
