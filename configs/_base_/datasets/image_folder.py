# Trains on a folder of aligned faces, one directory a person: data/faces/<person>/*.jpg. Any size is brought to 112 x 112.
train_dataloader = dict(
    batch_size=32,
    num_workers=2,
    persistent_workers=True,
    drop_last=True,
    sampler=dict(type='FaceSampler', shuffle=True),
    collate_fn=dict(type='mmface.face_collate'),
    dataset=dict(
        type='FaceDataset',
        path='data/faces',
        pipeline=[
            dict(type='DecodeFace'),
            dict(type='Resize', scale=(112, 112)),
            dict(type='RandomFlip', prob=0.5),
            dict(type='PackFace'),
        ]))
