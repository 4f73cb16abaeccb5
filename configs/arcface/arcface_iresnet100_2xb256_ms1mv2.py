"""ArcFace, IResNet-100, MS1MV2, in AdaFace's recipe with its augmentation (26 epochs with steps at 12, 20, 24).

Paper: Deng, Guo, Xue & Zafeiriou, "ArcFace: Additive Angular Margin Loss for Deep Face Recognition", CVPR 2019,
https://arxiv.org/abs/1801.07698

Command: tools/dist_train.sh configs/arcface/arcface_iresnet100_2xb256_ms1mv2.py 2

Expected: not run here.
"""
_base_ = '../_base_/recipes/adaface_ms1mv2.py'

model = dict(backbone=dict(depth=100), head=dict(loss=dict(type='ArcFaceLoss', s=64., m=.5)))
