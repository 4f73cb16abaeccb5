"""P2SGrad, IResNet-50, MS1MV3, in insightface's recipe (20 epochs, polynomial decay).

Paper: Zhang et al., "P2SGrad: Refined Gradients for Optimizing Deep Face Models", CVPR 2019, https://arxiv.org/abs/1905.02479

Command: tools/dist_train.sh configs/p2sgrad/p2sgrad_iresnet50_8xb128_ms1mv3.py 8

Expected: not run here.
"""
_base_ = '../_base_/recipes/insightface_ms1mv3.py'

model = dict(head=dict(loss=dict(type='P2SGradLoss')))
