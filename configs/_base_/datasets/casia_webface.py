"""CASIA-WebFace as InsightFace packs it (faces_webface_112x112), aligned to 112 x 112.

Identities: 10,572 in the pack; 10,575 in the original release
Images: 490,623 in the pack (another pack in circulation has 501,195); 494,414 in the original release
Source: Yi, Lei, Liao & Li, "Learning Face Representation from Scratch", 2014, https://arxiv.org/abs/1411.7923
Apply: to its authors, Center for Biometrics and Security Research, CASIA
Terms: research only, by agreement
Withdrawn: not known; whether the authors still answer applications is not known either
Licence: not known; the images are of people who were not asked, collected from IMDb
"""
_base_ = './recordio.py'

train_dataloader = dict(dataset=dict(path='data/casia_webface/train.rec'))
