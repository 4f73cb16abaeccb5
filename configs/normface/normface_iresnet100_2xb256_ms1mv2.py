"""NormFace, IResNet-100, MS1MV2, in AdaFace's recipe with its augmentation (26 epochs with steps at 12, 20, 24).

The scale is fixed; the authors' code learns it.

Paper: Wang, Xiang, Cheng & Yuille, "NormFace: L2 Hypersphere Embedding for Face Verification", ACM MM 2017,
https://arxiv.org/abs/1704.06369

Command: tools/dist_train.sh configs/normface/normface_iresnet100_2xb256_ms1mv2.py 2

Expected: not run here.
"""
_base_ = '../_base_/recipes/adaface_ms1mv2.py'

model = dict(backbone=dict(depth=100), head=dict(loss=dict(type='NormFaceLoss', s=30.)))
