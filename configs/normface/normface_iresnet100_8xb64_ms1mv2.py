"""NormFace, IResNet-100, MS1MV2, in GB-CosFace's recipe (24 epochs with steps at 4, 9, 14, 19).

The scale is fixed; the authors' code learns it.

Paper: Wang, Xiang, Cheng & Yuille, "NormFace: L2 Hypersphere Embedding for Face Verification", ACM MM 2017,
https://arxiv.org/abs/1704.06369

Command: tools/dist_train.sh configs/normface/normface_iresnet100_8xb64_ms1mv2.py 8

Expected: not run here.
"""
_base_ = '../_base_/recipes/gb-cosface_ms1mv2.py'

model = dict(head=dict(loss=dict(type='NormFaceLoss', s=30.)))
