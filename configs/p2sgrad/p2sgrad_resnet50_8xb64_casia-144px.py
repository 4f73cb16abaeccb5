"""P2SGrad, ResNet-50, CASIA-WebFace aligned to 144 x 144, batch 512.

Paper: Zhang et al., "P2SGrad: Refined Gradients for Optimizing Deep Face Models", CVPR 2019, https://arxiv.org/abs/1905.02479

Command: tools/dist_train.sh configs/p2sgrad/p2sgrad_resnet50_8xb64_casia-144px.py 8

Expected: not run here.
"""
_base_ = [
    '../_base_/models/resnet50_144px.py',
    '../_base_/datasets/casia_webface_144px.py',
    '../_base_/schedules/sgd_8xb64_24e.py',
    '../_base_/evaluation/verification.py',
    '../_base_/default_runtime.py'
]

model = dict(head=dict(num_classes=10572, loss=dict(type='P2SGradLoss')))
train_dataloader = dict(batch_size=64, num_workers=4)
