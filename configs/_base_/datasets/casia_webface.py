# CASIA-WebFace as packed by InsightFace: 10,572 identities, 490,623 images (the original release has 10,575 and 494,414). Research only, on
# application to its authors.
_base_ = './recordio.py'

train_dataloader = dict(dataset=dict(path='data/casia_webface/train.rec'))
