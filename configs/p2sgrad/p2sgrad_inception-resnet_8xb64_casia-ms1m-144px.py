"""P2SGrad, Inception-ResNet, CASIA-WebFace and MS-Celeb-1M aligned to 144 x 144, batch 512.

The paper gives the gradient of a sample; here it is averaged over the batch. Its learning rate and steps are not known to us: see the
recipe. MS1MV2 stands in for the paper's cleaned list of 2.35 million images, which is not published: set model.head.num_classes to the
identities of yours.

Paper: Zhang et al., "P2SGrad: Refined Gradients for Optimizing Deep Face Models", CVPR 2019, https://arxiv.org/abs/1905.02479

Command: tools/dist_train.sh configs/p2sgrad/p2sgrad_inception-resnet_8xb64_casia-ms1m-144px.py 8

Expected: not run here.
"""
_base_ = '../_base_/recipes/p2sgrad_casia-ms1m-144px.py'

model = dict(head=dict(loss=dict(type='P2SGradLoss')))
