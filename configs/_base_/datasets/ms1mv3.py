# MS1MV3, MS-Celeb-1M as cleaned for the ICCV 2019 LFR challenge: 93,431 identities, 5,179,510 images. Its source was withdrawn in 2019.
_base_ = './recordio.py'

train_dataloader = dict(dataset=dict(path='data/ms1mv3/train.rec'))
