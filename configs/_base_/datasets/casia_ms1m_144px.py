"""CASIA-WebFace and MS-Celeb-1M, both aligned to 144 x 144, as the P2SGrad paper trains for MegaFace and IJB-C; LFW aligned alike.

Identities: 96,317 here: CASIA-WebFace's 10,575 and the 85,742 of MS1MV2, which stands in; the number in the paper's list is not known
Images: about 450,000 and 2,350,000 in the paper's cleaned lists, which are not published
Source: casia_webface_144px.py; Guo et al., "MS-Celeb-1M: A Dataset and Benchmark for Large-Scale Face Recognition", ECCV 2016,
    https://arxiv.org/abs/1607.08221
Apply: CASIA-WebFace to its authors; MS-Celeb-1M is not given out any more
Terms: research only
Withdrawn: MS-Celeb-1M yes, by Microsoft in 2019; CASIA-WebFace: not known
Licence: none that covers both is known; the people in them were not asked

A person who is in both sets is two classes here; what the paper did about these is not known.
"""
_base_ = ['./train_loader.py', './lfw_144px.py']

train_pipeline = [
    dict(type='DecodeFace'),
    dict(type='RandomFlip', prob=0.5),
    dict(type='PackFace'),
]
train_dataloader = dict(
    dataset=dict(
        _delete_=True,
        type='ConcatDataset',
        datasets=[
            dict(type='FaceDataset', path='data/casia_webface_144px', pipeline=train_pipeline),
            dict(type='FaceDataset', path='data/ms1m_144px', pipeline=train_pipeline),
        ]))
