"""CosFace, IResNet-100, WebFace42M, in insightface's recipe; of the other classes a fifth is drawn a step.

The prototypes are sharded over the GPUs and sampled as in Partial FC. The margin 0.4 is that of insightface's config.

Paper: Wang et al., "CosFace: Large Margin Cosine Loss for Deep Face Recognition", CVPR 2018, https://arxiv.org/abs/1801.09414

Command: tools/dist_train.sh configs/cosface/cosface_iresnet100_8xb128-pfc02_webface42m.py 8

Expected: not run here; insightface reports IJB-C TAR 97.70 % at FAR 1e-4.
"""
_base_ = [
    '../_base_/models/iresnet50.py',
    '../_base_/datasets/webface42m.py',
    '../_base_/schedules/sgd_8xb128_20e.py',
    '../_base_/evaluation/verification.py',
    '../_base_/default_runtime.py',
]

model = dict(
    backbone=dict(depth=100),
    head=dict(
        num_classes=2059906,
        sharded=True,
        engine=dict(type='SampledEngine', ratio=.2),
        loss=dict(type='CosFaceLoss', s=64., m=.4)))
train_dataloader = dict(batch_size=128)
