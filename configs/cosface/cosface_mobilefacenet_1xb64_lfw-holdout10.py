"""CosFace, MobileFaceNet at 56 x 56, on LFW without the people of its tenth fold: real faces, on a laptop.

Paper: Wang et al., "CosFace: Large Margin Cosine Loss for Deep Face Recognition", CVPR 2018, https://arxiv.org/abs/1801.09414

Command: OMP_NUM_THREADS=1 python tools/train.py configs/cosface/cosface_mobilefacenet_1xb64_lfw-holdout10.py

Expected: 83.8 +- 2.2 % (standard error over ten parts of 60 pairs), AUC .934, after 25 minutes on one core; seed 0, see README.md.
"""
_base_ = '../arcface/arcface_mobilefacenet_1xb64_lfw-holdout10.py'

model = dict(head=dict(loss=dict(_delete_=True, type='CosFaceLoss', s=32., m=.2)))
