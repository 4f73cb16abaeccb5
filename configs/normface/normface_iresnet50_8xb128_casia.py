"""NormFace, IResNet-50, CASIA-WebFace.

The scale is fixed; the authors' code learns it.

Paper: Wang, Xiang, Cheng & Yuille, "NormFace: L2 Hypersphere Embedding for Face Verification", ACM MM 2017,
https://arxiv.org/abs/1704.06369

Command: tools/dist_train.sh configs/normface/normface_iresnet50_8xb128_casia.py 8

Expected: not run here; the paper trains another network.
"""
_base_ = [
    '../_base_/models/iresnet50.py',
    '../_base_/datasets/casia_webface.py',
    '../_base_/schedules/sgd_8xb128_20e.py',
    '../_base_/evaluation/verification.py',
    '../_base_/default_runtime.py',
]

model = dict(head=dict(num_classes=10572, loss=dict(type='NormFaceLoss', s=30.)))
