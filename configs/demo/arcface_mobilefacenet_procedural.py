"""ArcFace, half-width MobileFaceNet that looks at every fourth pixel, on procedural faces: the embedded default, minutes on two cores.

Paper: Deng, Guo, Xue & Zafeiriou, "ArcFace: Additive Angular Margin Loss for Deep Face Recognition", CVPR 2019,
https://arxiv.org/abs/1801.07698

Command: make demo, which also makes the data. Or, step by step:
    python tools/dataset_converters/procedural.py --out data/procedural
    python tools/train.py configs/demo/arcface_mobilefacenet_procedural.py

Expected: 95.3 % on the unseen people, the untrained network 59.4 %; see README.md.
"""
_base_ = ['../_base_/models/mobilefacenet.py', '../_base_/evaluation/verification.py', '../_base_/default_runtime.py']

model = dict(
    data_preprocessor=dict(channels_last=True),
    backbone=dict(width=.5, stem_stride=4, out_channels=256),
    neck=dict(in_channels=256, feat_size=4),
    head=dict(num_classes=600, loss=dict(type='ArcFaceLoss', s=20., m=.2)))

train_dataloader = dict(
    batch_size=64,
    num_workers=0,
    drop_last=True,
    sampler=dict(type='FaceSampler', shuffle=True),
    collate_fn=dict(type='mmface.face_collate'),
    dataset=dict(type='FaceDataset', path='data/procedural/train.rec', pipeline=[
        dict(type='DecodeFace'),
        dict(type='PackFace'),
    ]))
val_dataloader = dict(
    batch_size=100,
    num_workers=0,
    sampler=dict(type='DefaultSampler', shuffle=False, round_up=False),
    collate_fn=dict(type='mmface.face_collate'),
    dataset=dict(type='EvalDataset', path='data/procedural/test', name='procedural', pipeline=[
        dict(type='DecodeFace'),
        dict(type='PackFace'),
    ]))
test_dataloader = val_dataloader

optim_wrapper = dict(
    type='FaceOptimWrapper',
    optimizer=dict(type='AdamW', lr=4e-3, weight_decay=.05),
    paramwise_cfg=dict(flat_decay_mult=0.))
param_scheduler = [
    dict(type='LinearLR', start_factor=0.01, begin=0, end=40, by_epoch=False),
    dict(type='CosineAnnealingLR', eta_min=0., begin=0, end=2, by_epoch=True, convert_to_iter_based=True),
]
train_cfg = dict(type='FaceEpochTrainLoop', max_epochs=2, val_interval=1)
default_hooks = dict(logger=dict(interval=30), checkpoint=dict(save_best=None, max_keep_ckpts=1))
