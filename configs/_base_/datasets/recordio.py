# Trains on an InsightFace pack (train.rec, train.idx, property) of aligned 112 x 112 images, validates on LFW.
_base_ = './lfw.py'

train_dataloader = dict(
    batch_size=128,
    num_workers=4,
    persistent_workers=True,
    drop_last=True,
    sampler=dict(type='FaceSampler', shuffle=True),
    collate_fn=dict(type='mmface.face_collate'),
    dataset=dict(
        type='FaceDataset',
        pipeline=[
            dict(type='DecodeFace'),
            dict(type='RandomFlip', prob=0.5),
            dict(type='PackFace'),
        ]))
