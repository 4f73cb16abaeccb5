"""P2SGrad, ResNet-50, CASIA-WebFace aligned to 144 x 144, batch 512.

The paper gives the gradient of a sample; here it is averaged over the batch. Its learning rate and steps are not known to us: see the
recipe.

Paper: Zhang et al., "P2SGrad: Refined Gradients for Optimizing Deep Face Models", CVPR 2019, https://arxiv.org/abs/1905.02479

Command: tools/dist_train.sh configs/p2sgrad/p2sgrad_resnet50_8xb64_casia-144px.py 8

Expected: not run here.
"""
_base_ = '../_base_/recipes/p2sgrad_casia-144px.py'

model = dict(head=dict(loss=dict(type='P2SGradLoss')))
