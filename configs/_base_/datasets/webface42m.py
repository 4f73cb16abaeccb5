"""WebFace42M, WebFace260M cleaned, aligned to 112 x 112, as a pack.

Identities: 2,059,906
Images: 42,474,557
Source: Zhu et al., "WebFace260M: A Benchmark Unveiling the Power of Million-Scale Deep Face Recognition", CVPR 2021,
    https://arxiv.org/abs/2103.04098
Apply: https://www.face-benchmark.org/download.html, with an agreement signed by a responsible person of a research institution
Terms: academic research only, no commercial use, not to be passed on
Withdrawn: not known to be
Licence: the agreement; the images are of people who were not asked, collected from the Internet
"""
_base_ = './recordio.py'

train_dataloader = dict(dataset=dict(path='data/webface42m/train.rec'))
