"""Glint360K, aligned to 112 x 112.

Identities: 360,232
Images: 17,091,657
Source: An et al., "Partial FC: Training 10 Million Identities on a Single Machine", ICCV workshops 2021, https://arxiv.org/abs/2010.05222
Apply: no application is needed; https://github.com/deepinsight/insightface/tree/master/recognition/partial_fc
Terms: non-commercial research only, for the set and for models trained with it
Withdrawn: not known to be; it was merged from other sets, MS-Celeb-1M among them, which is withdrawn
Licence: its authors' statement of the terms; the people in it were not asked
"""
_base_ = './recordio.py'

train_dataloader = dict(dataset=dict(path='data/glint360k/train.rec'))
