"""Folding of BatchNorms into what is behind them."""
import numpy as np
import onnx
import pytest
import torch
from torch import nn

from mmface.export.fold_batchnorms import fold_batchnorms
from mmface.utils import import_onnxruntime


def traced(network: nn.Module, channels: int = 6) -> onnx.ModelProto:
    torch.manual_seed(0)
    for module in network.modules():
        if isinstance(module, nn.BatchNorm2d):
            nn.init.normal_(module.weight)
            nn.init.normal_(module.bias)
            module.running_mean.normal_()
            module.running_var.uniform_(.5, 2)
    batch = torch.export.Dim('batch')
    return torch.onnx.export(network.eval(), (torch.zeros(2, channels, 9, 7), ), dynamo=True, opset_version=20, input_names=['x'],
                             dynamic_shapes=({0: batch}, ), verbose=False).model_proto  # yapf: disable


def run(proto: onnx.ModelProto, x: np.ndarray) -> np.ndarray:
    return import_onnxruntime().InferenceSession(proto.SerializeToString(), providers=['CPUExecutionProvider']).run(None, {'x': x})[0]


class Branches(nn.Module):
    """A BatchNorm that two convolutions read, as where a block narrows."""

    def __init__(self):
        super().__init__()
        self.norm, self.left, self.right = nn.BatchNorm2d(6), nn.Conv2d(6, 4, 3, padding=1, bias=False), nn.Conv2d(6, 4, 1)

    def forward(self, x):
        x = self.norm(x)
        return self.left(x) + self.right(x)


class Residual(nn.Module):
    """A BatchNorm whose output is also added: it has to stay."""

    def __init__(self):
        super().__init__()
        self.norm, self.conv = nn.BatchNorm2d(6), nn.Conv2d(6, 6, 3, padding=1)

    def forward(self, x):
        x = self.norm(x)
        return x + self.conv(x)


@pytest.mark.parametrize(('network', 'folded'), [
    (nn.Sequential(nn.BatchNorm2d(6), nn.Conv2d(6, 4, 3, padding=1, bias=False)), 1),
    (nn.Sequential(nn.BatchNorm2d(6), nn.Conv2d(6, 4, 3, stride=2, padding=(2, 1), dilation=2)), 1),
    (nn.Sequential(nn.BatchNorm2d(6), nn.Conv2d(6, 6, 3, padding=1, groups=3)), 1),
    (nn.Sequential(nn.BatchNorm2d(6), nn.Conv2d(6, 6, 3, padding=1, groups=6), nn.PReLU(6), nn.BatchNorm2d(6), nn.Conv2d(6, 3, 1)), 2),
    (nn.Sequential(nn.BatchNorm2d(6), nn.Flatten(), nn.Linear(6 * 9 * 7, 5)), 1),
    (nn.Sequential(nn.BatchNorm2d(6), nn.Flatten(), nn.Linear(6 * 9 * 7, 5, bias=False)), 1),
    (Branches(), 1),
    (Residual(), 0),
    (nn.BatchNorm2d(6), 0),
])
def test_the_folded_graph_computes_the_same_also_at_the_borders(network, folded):
    proto = traced(network)
    x = np.random.default_rng(1).normal(size=(3, 6, 9, 7)).astype(np.float32)
    before = run(proto, x)
    norms = sum(node.op_type == 'BatchNormalization' for node in proto.graph.node)
    assert fold_batchnorms(proto) == folded
    onnx.checker.check_model(proto)
    assert sum(node.op_type == 'BatchNormalization' for node in proto.graph.node) == norms - folded
    np.testing.assert_allclose(run(proto, x), before, rtol=0, atol=2e-6 * np.abs(before).max() + 1e-6)
    assert not {tensor.name for tensor in proto.graph.initializer} - {name for node in proto.graph.node for name in node.input}
