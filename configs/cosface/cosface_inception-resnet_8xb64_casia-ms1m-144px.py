"""CosFace, Inception-ResNet, CASIA-WebFace and MS-Celeb-1M at 144 x 144, in P2SGrad's recipe.

Paper: Wang et al., "CosFace: Large Margin Cosine Loss for Deep Face Recognition", CVPR 2018, https://arxiv.org/abs/1801.09414

Command: tools/dist_train.sh configs/cosface/cosface_inception-resnet_8xb64_casia-ms1m-144px.py 8

Expected: not run here.
"""
_base_ = '../_base_/recipes/p2sgrad_casia-ms1m-144px.py'

model = dict(head=dict(loss=dict(type='CosFaceLoss', s=64., m=.35)))
