"""Backbones: images to a feature map. mmpretrain's are there too, as ``mmpretrain.ResNet`` and so on."""
from .edgeface import EdgeFace
from .inception_resnet import InceptionResNet
from .iresnet import IResNet
from .mobilefacenet import MobileFaceNet
from .seven_layer_net import SevenLayerNet

__all__ = ['EdgeFace', 'IResNet', 'InceptionResNet', 'MobileFaceNet', 'SevenLayerNet']
