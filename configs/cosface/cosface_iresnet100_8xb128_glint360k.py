"""CosFace, IResNet-100, Glint360K, in insightface's recipe; the prototypes are sharded over the GPUs.

The margin 0.4 and the weight decay 1e-4 are those of insightface's config.

Paper: Wang et al., "CosFace: Large Margin Cosine Loss for Deep Face Recognition", CVPR 2018, https://arxiv.org/abs/1801.09414

Command: tools/dist_train.sh configs/cosface/cosface_iresnet100_8xb128_glint360k.py 8

Expected: not run here; insightface reports IJB-C TAR 97.55 % at FAR 1e-4.
"""
_base_ = [
    '../_base_/models/iresnet50.py',
    '../_base_/datasets/glint360k.py',
    '../_base_/schedules/sgd_8xb128_20e.py',
    '../_base_/evaluation/verification.py',
    '../_base_/default_runtime.py',
]

model = dict(backbone=dict(depth=100), head=dict(num_classes=360232, sharded=True, loss=dict(type='CosFaceLoss', s=64., m=.4)))
train_dataloader = dict(batch_size=128)
optim_wrapper = dict(optimizer=dict(weight_decay=1e-4))
