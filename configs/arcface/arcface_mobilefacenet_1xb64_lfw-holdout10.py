"""ArcFace, MobileFaceNet at 56 x 56, on LFW without the people of its tenth fold: real faces, on a laptop.

Paper: Deng, Guo, Xue & Zafeiriou, "ArcFace: Additive Angular Margin Loss for Deep Face Recognition", CVPR 2019,
https://arxiv.org/abs/1801.07698

Command: OMP_NUM_THREADS=1 python tools/train.py configs/arcface/arcface_mobilefacenet_1xb64_lfw-holdout10.py

Expected: 86.5 +- 2.0 % (standard error over ten parts of 60 pairs), AUC .937, after 25 minutes on one core; seed 0, see README.md.
"""
_base_ = [
    '../_base_/models/mobilefacenet.py', '../_base_/datasets/lfw_holdout10.py', '../_base_/schedules/sgd_1xb64_12e.py',
    '../_base_/evaluation/verification.py', '../_base_/default_runtime.py'
]

model = dict(
    data_preprocessor=dict(size=(56, 56), channels_last=True),
    neck=dict(feat_size=4),
    head=dict(num_classes=1505, loss=dict(type='ArcFaceLoss', s=32., m=.3)))
