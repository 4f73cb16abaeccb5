"""ArcFace, IResNet-50, MS1MV3, in insightface's recipe (straight-through margin, 20 epochs, polynomial decay).

Paper: Deng, Guo, Xue & Zafeiriou, "ArcFace: Additive Angular Margin Loss for Deep Face Recognition", CVPR 2019,
https://arxiv.org/abs/1801.07698

Command: tools/dist_train.sh configs/arcface/arcface_iresnet50_8xb128_ms1mv3.py 8

Expected: not run here; insightface reports IJB-C TAR 96.37 % at FAR 1e-4 for this recipe.
"""
_base_ = [
    '../_base_/models/iresnet50.py',
    '../_base_/datasets/ms1mv3.py',
    '../_base_/schedules/sgd_8xb128_20e.py',
    '../_base_/evaluation/verification.py',
    '../_base_/default_runtime.py'
]

model = dict(head=dict(num_classes=93431, loss=dict(type='ArcFaceLoss', s=64., m=.5, beyond_pi='none', detach_margin=True)))
