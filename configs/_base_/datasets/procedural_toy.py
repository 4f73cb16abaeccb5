"""Procedural faces of ten people to look at, and 600 pairs of a hundred others, at 56 x 56; made by
    python tools/dataset_converters/procedural.py --out data/procedural_toy --people 10 --pictures 200 --test-people 100 --pairs 600

Identities: 10
Images: 2,000
Source: mmface/datasets/procedural
Apply: no application is needed
Terms: none; the people do not exist
Withdrawn: no
Licence: Apache-2.0, as the generator
"""
_base_ = './train_loader.py'

small_pipeline = [
    dict(type='DecodeFace'),
    dict(type='Resize', scale=(56, 56), interpolation='area'),
    dict(type='PackFace'),
]
train_dataloader = dict(batch_size=64, num_workers=1, dataset=dict(path='data/procedural_toy/train.rec', pipeline=small_pipeline))
val_dataloader = dict(
    batch_size=100,
    num_workers=0,
    sampler=dict(type='DefaultSampler', shuffle=False, round_up=False),
    collate_fn=dict(type='mmface.face_collate'),
    dataset=dict(type='EvalDataset', path='data/procedural_toy/test', name='procedural_toy', pipeline=small_pipeline))
test_dataloader = val_dataloader
