"""CosFace, IResNet-100, MS1MV2, in GB-CosFace's recipe (24 epochs with steps at 4, 9, 14, 19).

Paper: Wang et al., "CosFace: Large Margin Cosine Loss for Deep Face Recognition", CVPR 2018, https://arxiv.org/abs/1801.09414

Command: tools/dist_train.sh configs/cosface/cosface_iresnet100_8xb64_ms1mv2.py 8

Expected: not run here.
"""
_base_ = '../_base_/recipes/gb-cosface_ms1mv2.py'

model = dict(head=dict(loss=dict(type='CosFaceLoss', s=64., m=.35)))
