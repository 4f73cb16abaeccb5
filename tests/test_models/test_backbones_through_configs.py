"""mmpretrain's backbones, and ours, as a config names them: with the neck that docs/backbones.md puts behind each."""
from pathlib import Path

import pytest
import torch

from mmface.models import FaceRecognizer
from mmface.structures import FaceDataSample

POOL = dict(type='PoolNeck', out_channels=64)
CASES = {
    'resnet50': (dict(type='mmpretrain.ResNet', depth=50), dict(POOL, in_channels=2048), 33),
    'resnet50-face-neck': (dict(type='mmpretrain.ResNet', depth=50), dict(type='FaceNeck', in_channels=2048, feat_size=5), 144),
    'resnet18-stride16': (dict(type='mmpretrain.ResNet', depth=18, strides=(1, 2, 2, 1), dilations=(1, 1, 1, 2)),
                          dict(type='FaceNeck', feat_size=7), 112),
    'vit-patch8': (dict(type='mmpretrain.VisionTransformer', arch=dict(embed_dims=32, num_layers=2, num_heads=4, feedforward_channels=64),
                        img_size=112, patch_size=8, with_cls_token=False, out_type='featmap'),
                   dict(type='ViTNeck', in_channels=32, feat_size=14), 112),
    'vit-patch9': (dict(type='mmpretrain.VisionTransformer', arch=dict(embed_dims=32, num_layers=2, num_heads=4, feedforward_channels=64),
                        img_size=112, patch_size=9, patch_cfg=dict(padding=0), with_cls_token=False, out_type='featmap'),
                   dict(type='ViTNeck', in_channels=32, feat_size=12), 112),
    'vit-class-token': (dict(type='mmpretrain.VisionTransformer', img_size=56, patch_size=8,
                             arch=dict(embed_dims=32, num_layers=2, num_heads=4, feedforward_channels=64)), dict(POOL, in_channels=32), 56),
    'convnext': (dict(type='mmpretrain.ConvNeXt', arch='atto'), dict(POOL, in_channels=320), 64),
    'swin': (dict(type='mmpretrain.SwinTransformer', arch='tiny', img_size=112, pad_small_map=True), dict(POOL, in_channels=768), 112),
    'mobilenetv3': (dict(type='mmpretrain.MobileNetV3', arch='small_075'), dict(POOL, in_channels=432), 64),
    'efficientnet': (dict(type='mmpretrain.EfficientNet', arch='b0'), dict(POOL, in_channels=1280), 64),
    'edgeface': (dict(type='EdgeFace', arch='xxsmall', rank_ratio=.6),
                 dict(type='PoolNeck', in_channels=168, bias=True, norm=False, rank_ratio=.6), 64),
    'inception-resnet': (dict(type='InceptionResNet'), dict(type='PoolNeck', in_channels=1792, dropout=.6, eps=1e-3), 112),
    'seven-layers': (dict(type='SevenLayerNet', feat_size=4), None, 32),
}


@pytest.mark.parametrize('case', CASES)
def test_a_config_names_a_backbone_and_trains_it(case):
    backbone, neck, side = CASES[case]
    size = 3 if neck is None else neck.get('out_channels', 512)
    head = dict(type='FaceClsHead', num_classes=5, in_channels=size, loss=dict(type='CosFaceLoss'))
    torch.manual_seed(0)
    recognizer = FaceRecognizer(backbone, neck, head, dict(type='FaceDataPreprocessor', channels_last=True))
    recognizer.init_weights()
    assert recognizer.train() is recognizer and recognizer.backbone.training
    images = torch.rand(2, 3, side, side).to(memory_format=torch.channels_last)
    with torch.autocast('cpu', torch.bfloat16):
        loss = recognizer(images, FaceDataSample(gt_label=torch.tensor([1, 4])), 'loss')['loss']
    loss.backward()
    gradients = [p.grad for p in recognizer.parameters() if p.requires_grad and p.grad is not None]
    assert all(gradient.isfinite().all() for gradient in gradients)
    assert any(gradient.any() for gradient in gradients[:3])
    recognizer.eval()
    assert not recognizer.backbone.training
    with torch.no_grad():
        embeddings = recognizer(images)
    assert embeddings.shape == (2, size) and embeddings.isfinite().all()


def test_the_code_of_the_docs_runs():
    text = (Path(__file__).parents[2] / 'docs/backbones.md').read_text()
    blocks = [block.split('```')[0] for block in text.split('```python\n')[1:]]
    shapes = []
    for block in blocks:
        names: dict = {}
        exec(compile(block, 'docs/backbones.md', 'exec'), names)
        shapes += [tuple(names['embeddings'].shape)] if 'embeddings' in names else []
    assert shapes == [(2, 512), (2, 64)]
