"""NormFace, ResNet-50, CASIA-WebFace at 144 x 144, in P2SGrad's recipe.

The scale is fixed; the authors' code learns it.

Paper: Wang, Xiang, Cheng & Yuille, "NormFace: L2 Hypersphere Embedding for Face Verification", ACM MM 2017,
https://arxiv.org/abs/1704.06369

Command: tools/dist_train.sh configs/normface/normface_resnet50_8xb64_casia-144px.py 8

Expected: not run here.
"""
_base_ = '../_base_/recipes/p2sgrad_casia-144px.py'

model = dict(head=dict(loss=dict(type='NormFaceLoss', s=30.)))
