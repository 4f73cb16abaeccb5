"""NormFace, IResNet-50, MS1MV3, in insightface's recipe (20 epochs, polynomial decay).

The scale is fixed; the authors' code learns it.

Paper: Wang, Xiang, Cheng & Yuille, "NormFace: L2 Hypersphere Embedding for Face Verification", ACM MM 2017,
https://arxiv.org/abs/1704.06369

Command: tools/dist_train.sh configs/normface/normface_iresnet50_8xb128_ms1mv3.py 8

Expected: not run here.
"""
_base_ = '../_base_/recipes/insightface_ms1mv3.py'

model = dict(head=dict(loss=dict(type='NormFaceLoss', s=30.)))
