"""AdaFace, IResNet-50, MS1MV2, BGR input, 26 epochs with steps at 12, 20, 24; the paper's augmentation.

Paper: Kim, Jain & Liu, "AdaFace: Quality Adaptive Margin for Face Recognition", CVPR 2022, https://arxiv.org/abs/2204.00964

Command: tools/dist_train.sh configs/adaface/adaface_iresnet50_2xb256_ms1mv2.py 2

Expected: not run here; the authors report 96.88 % on average over LFW, CFP-FP, CPLFW, CALFW and AgeDB.
"""
_base_ = [
    '../_base_/models/iresnet50.py',
    '../_base_/datasets/ms1mv2.py',
    '../_base_/schedules/sgd_2xb256_26e.py',
    '../_base_/evaluation/verification.py',
    '../_base_/default_runtime.py'
]

model = dict(
    data_preprocessor=dict(color='BGR'),
    neck=dict(dropout=.4),
    head=dict(num_classes=85742, loss=dict(type='AdaFaceLoss', s=64., m=.4, h=.333)))
train_dataloader = dict(
    batch_size=256,
    dataset=dict(
        pipeline=[
            dict(type='DecodeFace'),
            dict(type='RandomCropInPlace', prob=.2),
            dict(type='RandomLowResolution', prob=.2),
            dict(type='RandomPhotometric', prob=.2),
            dict(type='RandomFlip', prob=.5),
            dict(type='PackFace'),
        ]))
