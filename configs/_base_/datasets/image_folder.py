# Trains on a folder of aligned faces, one directory a person: data/faces/<person>/*.jpg. Any size is brought to 112 x 112.
_base_ = './train_loader.py'

train_dataloader = dict(
    batch_size=32,
    num_workers=2,
    dataset=dict(
        path='data/faces',
        pipeline=[
            dict(type='DecodeFace'),
            dict(type='Resize', scale=(112, 112)),
            dict(type='RandomFlip', prob=0.5),
            dict(type='PackFace'),
        ]))
