"""Backbones and necks as plain modules: no registry, no runner, no config."""
import copy
import io
import pickle

import pytest
import torch
from torch import nn

from mmface.models import (
    EdgeFace,
    FaceClsHead,
    FaceNeck,
    GDCNeck,
    InceptionResNet,
    IResNet,
    MobileFaceNet,
    PoolNeck,
    SevenLayerNet,
    ViTNeck,
)

#: Backbone, neck, the side of an image.
NETWORKS = {
    'iresnet': lambda: (IResNet(18), FaceNeck(feat_size=2, out_channels=16), 32),
    'iresnet-switched': lambda: (IResNet(18, se=True, mid_norm=False, subsample_shortcut=True), FaceNeck(feat_size=3, affine=False), 33),
    'mobilefacenet': lambda: (MobileFaceNet(width=.25), GDCNeck(feat_size=2), 32),
    'mobilefacenet-switched': lambda: (MobileFaceNet(width=.5, inner_width=.25, relu6=True, stem_units=1),
                                       GDCNeck(feat_size=2, bias=True), 32),
    'edgeface': lambda: (EdgeFace('xxsmall', .5, drop_path_rate=.1), PoolNeck(168, bias=True, norm=False, rank_ratio=.5), 64),
    'inception-resnet': lambda: (InceptionResNet(), PoolNeck(1792, 32, dropout=.1, eps=1e-3), 75),
    'seven-layers': lambda: (SevenLayerNet(3, 4, width=8), nn.Identity(), 32),
    'tokens': lambda: (nn.Sequential(nn.Conv2d(3, 8, 8, 8)), ViTNeck(8, 4, 16), 32),
}


class Network(nn.Module):
    """What a user writes: a backbone and a neck."""

    def __init__(self, backbone: nn.Module, neck: nn.Module) -> None:
        super().__init__()
        self.backbone, self.neck = backbone, neck

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        maps = self.backbone(images)
        return self.neck(maps if isinstance(maps, torch.Tensor) else maps[-1])


@pytest.fixture(scope='module', params=NETWORKS)
def network(request):
    """A network in evaluation mode, and images for it; its statistics have seen a batch."""
    torch.manual_seed(0)
    backbone, neck, side = NETWORKS[request.param]()
    network, images = Network(backbone, neck), torch.randn(3, 3, side, side)
    network(images)
    return network.eval(), images


def test_every_parameter_is_reached_by_the_gradient(network):
    trained, images = copy.deepcopy(network[0]).train(), network[1]
    embeddings = trained(images)
    (embeddings * torch.randn_like(embeddings)).sum().backward()
    unreached = [name for name, p in trained.named_parameters() if p.requires_grad and (p.grad is None or not p.grad.isfinite().all())]
    assert not unreached
    silent = [name for name, p in trained.named_parameters() if p.requires_grad and not p.grad.any()]
    # A shift before a batch norm is taken out again, and a channel that ReLU6 cuts off everywhere learns nothing.
    assert len(silent) < .02 * len(list(trained.parameters())) + 1, silent


def test_copies_and_pickles_compute_the_same(network):
    module, images = network
    kept = io.BytesIO()
    torch.save(module.state_dict(), kept)
    kept.seek(0)
    again = copy.deepcopy(module)
    nn.init.zeros_(next(again.parameters()))
    again.load_state_dict(torch.load(kept, weights_only=True))
    with torch.no_grad():
        expected = module(images)
        for other in (again, pickle.loads(pickle.dumps(module))):
            assert torch.equal(other(images), expected)


@pytest.mark.parametrize('dtype', [torch.float64, torch.bfloat16], ids=str)
def test_a_network_follows_its_dtype(network, dtype):
    module, images = network
    with torch.no_grad():
        found, expected = copy.deepcopy(module).to(dtype)(images.to(dtype)), module(images)
    assert found.dtype == dtype
    cosine = nn.functional.cosine_similarity(found.double(), expected.double())
    assert cosine.min() > (1 - 1e-9 if dtype == torch.float64 else .97)


def test_channels_last_and_autocast_change_the_layout_and_the_rounding_only(network):
    module, images = network
    with torch.no_grad():
        expected = module(images)
        last = module(images.to(memory_format=torch.channels_last))
        torch.testing.assert_close(last, expected, rtol=1e-4, atol=1e-4 * expected.abs().max().item())
        with torch.autocast('cpu', torch.bfloat16):
            mixed = module(images.to(memory_format=torch.channels_last))
    assert nn.functional.cosine_similarity(mixed.float(), expected).min() > .97


@pytest.mark.parametrize('network', ['iresnet', 'iresnet-switched', 'mobilefacenet', 'mobilefacenet-switched', 'inception-resnet',
                                     'seven-layers'], indirect=True)
def test_an_image_in_channels_last_stays_so_up_to_the_neck(network):
    module, images = network
    left = []
    hooks = [m.register_forward_hook(lambda m, inputs, output: left.append(not output.is_contiguous(memory_format=torch.channels_last)))
             for m in module.backbone.modules() if isinstance(m, nn.Conv2d | nn.BatchNorm2d | nn.PReLU)]
    with torch.no_grad():
        module(images.to(memory_format=torch.channels_last))
    for hook in hooks:
        hook.remove()
    assert len(left) >= len(hooks) and not any(left)


def test_an_image_is_embedded_alike_alone_and_in_a_batch(network):
    module, images = network
    with torch.no_grad():
        together, alone = module(images), torch.cat([module(image[None]) for image in images])
    torch.testing.assert_close(together, alone, rtol=1e-4, atol=1e-4 * together.abs().max().item())


@pytest.mark.parametrize('network', ['iresnet-switched', 'mobilefacenet', 'edgeface', 'seven-layers', 'tokens'], indirect=True)
def test_torch_export_gives_a_program_for_any_batch(network):
    module, images = network
    program = torch.export.export(module, (images, ), dynamic_shapes=({0: torch.export.Dim('batch', max=64)}, ))
    with torch.no_grad():
        torch.testing.assert_close(program.module()(images[:2]), module(images[:2]), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize('name', ['mobilefacenet', 'seven-layers'])
def test_torch_compile_takes_a_network_whole(name):
    backbone, neck, side = NETWORKS[name]()
    module, images = Network(backbone, neck).eval(), torch.randn(2, 3, side, side)
    torch._dynamo.reset()
    with torch.no_grad():
        torch.testing.assert_close(torch.compile(module, backend='eager', fullgraph=True)(images), module(images))


def test_a_plain_training_loop_learns_three_people():
    torch.manual_seed(0)
    backbone, neck = MobileFaceNet(width=.25, stem_stride=1), GDCNeck(feat_size=2, out_channels=16)
    head = FaceClsHead(num_classes=3, in_channels=16, loss=dict(type='ArcFaceLoss', s=16., m=.2))
    modules = nn.ModuleList([backbone, neck, head])
    optimizer = torch.optim.SGD(modules.parameters(), lr=.05, momentum=.9)
    people = torch.rand(3, 3, 16, 16)
    losses = []
    for _ in range(25):
        labels = torch.randint(3, (12, ))
        images = people[labels] + .1 * torch.randn(12, 3, 16, 16)
        loss = head.compute_loss(neck(backbone(images)[-1]), labels)['loss']
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert sum(losses[-5:]) < .2 * sum(losses[:5]), losses
