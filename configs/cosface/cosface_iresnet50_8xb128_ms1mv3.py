"""CosFace, IResNet-50, MS1MV3, in insightface's recipe (20 epochs, polynomial decay).

The margin is the 0.4 of insightface's configs; the paper has 0.35.

Paper: Wang et al., "CosFace: Large Margin Cosine Loss for Deep Face Recognition", CVPR 2018, https://arxiv.org/abs/1801.09414

Command: tools/dist_train.sh configs/cosface/cosface_iresnet50_8xb128_ms1mv3.py 8

Expected: not run here.
"""
_base_ = '../_base_/recipes/insightface_ms1mv3.py'

model = dict(head=dict(loss=dict(type='CosFaceLoss', s=64., m=.4)))
