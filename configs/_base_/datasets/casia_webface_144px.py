"""CASIA-WebFace as the P2SGrad paper has it: a folder of images aligned to 144 x 144, one directory an identity; LFW aligned alike.

Identities: 10,575 in the original release; how many the paper's cleaned list leaves is not known
Images: about 450,000 in the paper's cleaned list, which is not published; 494,414 in the original release
Source: Yi, Lei, Liao & Li, "Learning Face Representation from Scratch", 2014, https://arxiv.org/abs/1411.7923
Apply: to its authors, Center for Biometrics and Security Research, CASIA
Terms: research only, by agreement
Withdrawn: not known; whether the authors still answer applications is not known either
Licence: not known; the images are of people who were not asked, collected from IMDb
"""
_base_ = ['./image_folder.py', './lfw_144px.py']

train_dataloader = dict(
    dataset=dict(
        path='data/casia_webface_144px',
        pipeline=[
            dict(type='DecodeFace'),
            dict(type='RandomFlip', prob=0.5),
            dict(type='PackFace'),
        ]))
