# MS1MV2 (face_emore), MS-Celeb-1M cleaned by InsightFace: 85,742 identities, 5,822,653 images. Its source was withdrawn in 2019.
_base_ = './recordio.py'

train_dataloader = dict(dataset=dict(path='data/ms1mv2/train.rec'))
