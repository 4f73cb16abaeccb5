# Inception-ResNet with a 512-d embedding on 144 x 144 RGB images, (x - 127.5) / 128: the P2SGrad paper's second network, of which it says
# no more; this is version 1. A method's config adds num_classes and the loss.
model = dict(
    type='FaceRecognizer',
    data_preprocessor=dict(type='FaceDataPreprocessor', mean=(127.5, 127.5, 127.5), std=(128., 128., 128.), color='RGB', size=(144, 144)),
    backbone=dict(type='InceptionResNet'),
    neck=dict(type='PoolNeck', in_channels=1792, out_channels=512),
    head=dict(type='FaceClsHead', in_channels=512, engine=dict(type='FusedEngine')))
