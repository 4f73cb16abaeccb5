# mmpretrain's ResNet-50 with a 512-d embedding on 144 x 144 RGB images, (x - 127.5) / 128, as in the P2SGrad paper.
model = dict(
    type='FaceRecognizer',
    data_preprocessor=dict(type='FaceDataPreprocessor', mean=(127.5, 127.5, 127.5), std=(128., 128., 128.), color='RGB', size=(144, 144)),
    backbone=dict(type='mmpretrain.ResNet', depth=50),
    neck=dict(type='FaceNeck', in_channels=2048, feat_size=5, out_channels=512),
    head=dict(type='FaceClsHead', in_channels=512, engine=dict(type='FusedEngine')))
