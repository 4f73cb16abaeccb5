"""CosFace, IResNet-100, MS1MV2, in AdaFace's recipe with its augmentation (26 epochs with steps at 12, 20, 24).

Paper: Wang et al., "CosFace: Large Margin Cosine Loss for Deep Face Recognition", CVPR 2018, https://arxiv.org/abs/1801.09414

Command: tools/dist_train.sh configs/cosface/cosface_iresnet100_2xb256_ms1mv2.py 2

Expected: not run here.
"""
_base_ = '../_base_/recipes/adaface_ms1mv2.py'

model = dict(backbone=dict(depth=100), head=dict(loss=dict(type='CosFaceLoss', s=64., m=.35)))
