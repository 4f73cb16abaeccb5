# Trains on the people of LFW with two images or more, without those of fold 10 (1,505 people, 7,829 images); tests on the 600 pairs of that
# fold, cut into ten parts that may share people; at 56 x 56. Made from aligned images by
#   python tools/dataset_converters/lfw.py --images lfw112.tar --pairs pairs.txt --out data/lfw_holdout10 --min-images 2
_base_ = './train_loader.py'

train_dataloader = dict(
    batch_size=64,
    num_workers=1,
    dataset=dict(
        path='data/lfw_holdout10/train.rec',
        pipeline=[
            dict(type='DecodeFace'),
            dict(type='Resize', scale=(62, 62), interpolation='area'),
            dict(type='mmpretrain.RandomCrop', crop_size=56),
            dict(type='RandomFlip', prob=0.5),
            dict(type='PackFace'),
        ]))

val_dataloader = dict(
    batch_size=64,
    num_workers=0,
    sampler=dict(type='DefaultSampler', shuffle=False, round_up=False),
    collate_fn=dict(type='mmface.face_collate'),
    dataset=dict(
        type='EvalDataset',
        path='data/lfw_holdout10/test',
        name='lfw_holdout10',
        pipeline=[
            dict(type='DecodeFace'),
            dict(type='Resize', scale=(56, 56), interpolation='area'),
            dict(type='PackFace'),
        ]))
test_dataloader = val_dataloader
