"""VGGFace2 as InsightFace packs it (faces_vgg_112x112), aligned to 112 x 112.

Identities: 9,131, training (8,631) and test (500) together
Images: about 3,310,000; the exact number in the pack is not known
Source: Cao et al., "VGGFace2: A Dataset for Recognising Faces Across Pose and Age", FG 2018, https://arxiv.org/abs/1710.08092
Apply: to the Visual Geometry Group, Oxford, which does not give it out at present
Terms: research only
Withdrawn: yes in effect, its authors took it off the net in December 2020 (https://github.com/ox-vgg/vgg_face2/issues/50)
Licence: not known; the images are of people who were not asked, collected from an image search
"""
_base_ = './recordio.py'

train_dataloader = dict(dataset=dict(path='data/vggface2/train.rec'))
