"""CosFace, IResNet-50, MS1MV3, in insightface's recipe (margin 0.4, 20 epochs, polynomial decay).

Paper: Wang et al., "CosFace: Large Margin Cosine Loss for Deep Face Recognition", CVPR 2018, https://arxiv.org/abs/1801.09414

Command: tools/dist_train.sh configs/cosface/cosface_iresnet50_8xb128_ms1mv3.py 8

Expected: not run here.
"""
_base_ = [
    '../_base_/models/iresnet50.py',
    '../_base_/datasets/ms1mv3.py',
    '../_base_/schedules/sgd_8xb128_20e.py',
    '../_base_/evaluation/verification.py',
    '../_base_/default_runtime.py'
]

model = dict(head=dict(num_classes=93431, loss=dict(type='CosFaceLoss', s=64., m=.4)))
