# Tests on LFW's ten folds (View 2): data/lfw/<Name>/<Name>_0001.jpg, aligned to 112 x 112, and data/lfw/pairs.txt.
test_dataloader = dict(
    batch_size=64,
    num_workers=2,
    persistent_workers=True,
    sampler=dict(type='DefaultSampler', shuffle=False, round_up=False),
    collate_fn=dict(type='mmface.face_collate'),
    dataset=dict(type='EvalDataset', path='data/lfw', name='lfw', pipeline=[
        dict(type='DecodeFace'),
        dict(type='PackFace'),
    ]))
val_dataloader = test_dataloader
