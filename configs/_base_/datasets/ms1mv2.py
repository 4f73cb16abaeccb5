"""MS1MV2 (faces_emore), MS-Celeb-1M as InsightFace cleaned it for ArcFace, aligned to 112 x 112.

Identities: 85,742
Images: 5,822,653
Source: Deng et al., "ArcFace", CVPR 2019, https://arxiv.org/abs/1801.07698, from MS-Celeb-1M, ECCV 2016, https://arxiv.org/abs/1607.08221
Apply: MS-Celeb-1M is not given out any more
Terms: non-commercial research
Withdrawn: yes, MS-Celeb-1M by Microsoft in 2019; packs of it go on being passed around, which is not a permission
Licence: none that covers the pack is known; Microsoft gave MS-Celeb-1M for non-commercial research; the people in it were not asked
"""
_base_ = './recordio.py'

train_dataloader = dict(dataset=dict(path='data/ms1mv2/train.rec'))
