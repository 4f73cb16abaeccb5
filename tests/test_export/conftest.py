"""A network that exports in two seconds."""
import itertools
import tarfile

import numpy as np
import pytest
import torch
from torch import nn

from mmface.datasets.decode import decode_image
from mmface.models import FaceRecognizer
from mmface.registry import MODELS

MEAN, STD, SIZE = (100., 120., 130.), (50., 60., 70.), (16, 12)


class TinyBackbone(nn.Module):
    """[B, 3, 16, 12] -> [B, 8, 4, 3]."""

    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Conv2d(3, 8, 4, 4, bias=False), nn.BatchNorm2d(8), nn.PReLU(8))

    def forward(self, x):
        return (self.layers(x), )


def build():
    MODELS.register_module(name='TinyBackbone', module=TinyBackbone, force=True)
    torch.manual_seed(0)
    model = FaceRecognizer(
        backbone=dict(type='TinyBackbone'),
        neck=dict(type='FaceNeck', in_channels=8, feat_size=(4, 3), out_channels=6),
        head=dict(type='FaceClsHead', num_classes=20_000, in_channels=6, loss=dict(type='ArcFaceLoss')),
        data_preprocessor=dict(type='FaceDataPreprocessor', mean=MEAN, std=STD, color='BGR', size=SIZE))
    with torch.no_grad():  # statistics as after training, so that a forgotten eval() shows
        for module in model.modules():
            if isinstance(module, nn.BatchNorm1d | nn.BatchNorm2d):
                module.running_mean.normal_()
                module.running_var.uniform_(.5, 2)
    return model.train()


@pytest.fixture
def recognizer():
    return build()


@pytest.fixture(scope='module')
def shared_recognizer():
    """For tests that only look at it."""
    return build()


@pytest.fixture(scope='session')
def real_crops(shared):
    """Aligned faces, uint8 RGB [24, 112, 112, 3]."""
    with tarfile.open(shared / 'data/lfw112.tar') as archive:
        chosen = itertools.islice((entry for entry in archive if entry.name.endswith('.jpg')), 0, 480, 20)
        return np.stack([decode_image(archive.extractfile(entry).read()) for entry in chosen])
