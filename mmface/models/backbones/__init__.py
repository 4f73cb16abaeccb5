"""Backbones: images to a feature map. mmpretrain's are there too, as ``mmpretrain.ResNet`` and so on."""
from .iresnet import IResNet
from .mobilefacenet import MobileFaceNet

__all__ = ['IResNet', 'MobileFaceNet']
