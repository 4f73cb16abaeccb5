# Trains on an InsightFace pack (train.rec, train.idx, property) of aligned 112 x 112 images, validates on LFW.
_base_ = ['./lfw.py', './train_loader.py']

train_dataloader = dict(
    dataset=dict(
        pipeline=[
            dict(type='DecodeFace'),
            dict(type='RandomFlip', prob=0.5),
            dict(type='PackFace'),
        ]))
