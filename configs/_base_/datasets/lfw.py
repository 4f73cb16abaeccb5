"""LFW's ten folds (View 2): data/lfw/<Name>/<Name>_0001.jpg, aligned to 112 x 112, and data/lfw/pairs.txt. For validation and test.

Identities: 5,749
Images: 13,233; 6,000 pairs
Source: Huang, Ramesh, Berg & Learned-Miller, "Labeled Faces in the Wild", UMass Amherst 07-49, 2007
Apply: no application is needed
Terms: research; its authors warn against concluding from it that a product works
Withdrawn: not known to be
Licence: none is stated; press photographs of people who were not asked

README.md describes the other evaluation sets; any of them takes this one's place with
--cfg-options test_dataloader.dataset.path=data/cfp_fp.bin test_dataloader.dataset.name=cfp_fp.
"""
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
