"""ArcFace, MobileFaceNet, on your own aligned 112 x 112 faces.

They lie in data/faces/<person>/*.jpg; the test is data/pairs/pairs.txt with its images beside it.

Paper: Deng, Guo, Xue & Zafeiriou, "ArcFace: Additive Angular Margin Loss for Deep Face Recognition", CVPR 2019,
https://arxiv.org/abs/1801.07698

Command: python tools/train.py configs/arcface/arcface_mobilefacenet_1xb32_own-photos.py --cfg-options model.head.num_classes=100

Expected: depends on the photos. With a few thousand images of some hundred people it learns to tell people apart, not to be relied upon.
"""
_base_ = [
    '../_base_/models/mobilefacenet.py', '../_base_/datasets/image_folder.py', '../_base_/schedules/sgd_1xb64_12e.py',
    '../_base_/evaluation/verification.py', '../_base_/default_runtime.py'
]

model = dict(
    data_preprocessor=dict(channels_last=True),
    head=dict(num_classes=100, loss=dict(type='ArcFaceLoss', s=32., m=.3)))
val_dataloader = dict(
    batch_size=64,
    num_workers=0,
    sampler=dict(type='DefaultSampler', shuffle=False, round_up=False),
    collate_fn=dict(type='mmface.face_collate'),
    dataset=dict(type='EvalDataset', path='data/pairs', name='own', pipeline=[
        dict(type='DecodeFace'),
        dict(type='Resize', scale=(112, 112)),
        dict(type='PackFace'),
    ]))
test_dataloader = val_dataloader
