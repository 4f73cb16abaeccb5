"""ArcFace, IResNet-50, MS1MV3, in insightface's recipe (20 epochs, polynomial decay).

Follows insightface's arcface_torch: the margin moves the value and not the slope, and nothing is done where theta + m exceeds pi; the
paper differentiates it and has a fallback.

Paper: Deng, Guo, Xue & Zafeiriou, "ArcFace: Additive Angular Margin Loss for Deep Face Recognition", CVPR 2019,
https://arxiv.org/abs/1801.07698

Command: tools/dist_train.sh configs/arcface/arcface_iresnet50_8xb128_ms1mv3.py 8

Expected: not run here; insightface reports IJB-C TAR 96.37 % at FAR 1e-4 for this recipe.
"""
_base_ = '../_base_/recipes/insightface_ms1mv3.py'

model = dict(head=dict(loss=dict(type='ArcFaceLoss', s=64., m=.5, beyond_pi='none', detach_margin=True)))
