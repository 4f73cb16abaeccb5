# IResNet-50 with a 512-d embedding on 112 x 112 RGB images; a method's config adds num_classes and the loss.
model = dict(
    type='FaceRecognizer',
    data_preprocessor=dict(
        type='FaceDataPreprocessor', mean=(127.5, 127.5, 127.5), std=(127.5, 127.5, 127.5), color='RGB', size=(112, 112)),
    backbone=dict(type='IResNet', depth=50),
    neck=dict(type='FaceNeck', in_channels=512, feat_size=7, out_channels=512),
    head=dict(type='FaceClsHead', in_channels=512, engine=dict(type='FusedEngine')))
