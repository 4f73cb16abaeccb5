"""What docs/losses and docs/write_your_own_loss.md say is what the code does."""
import importlib.util
import inspect
import re
from pathlib import Path

import pytest
import torch
from registered import LOSSES
from torch.nn import functional as F

from mmface.apis.lab import LossProbe
from mmface.registry import MODELS

ROOT = Path(__file__).resolve().parents[2]
PAGES = {path: path.read_text() for path in sorted((ROOT / 'docs/losses').glob('*.md'))}


def arguments(name, skip=('num_classes', 'in_channels', 'kwargs', 'self')):
    """The constructor call with all defaults, as the pages show it."""
    parameters = inspect.signature(MODELS.get(name)).parameters.values()
    return f'{name}({", ".join(f"{p.name}={p.default!r}" for p in parameters if p.name not in skip)})'


@pytest.mark.parametrize('name', [*LOSSES, 'BroadFaceHead', 'VPLHead', 'SCFHead'])
def test_each_has_a_page_with_its_defaults(name):
    assert sum(f'\n    {arguments(name)}\n' in text for text in PAGES.values()) == 1, arguments(name)


def test_index_names_every_loss_and_page():
    index = PAGES[ROOT / 'docs/losses/index.md']
    for name in LOSSES:
        assert f'`{name}`' in index
    for path in PAGES:
        assert path.name == 'index.md' or f'({path.name})' in index


def test_links_and_pictures_lead_somewhere():
    for path in [*PAGES, ROOT / 'docs/write_your_own_loss.md']:
        for target in re.findall(r'\]\(([^)#]+)\)', path.read_text()):
            assert (path.parent / target).is_file(), f'{path.name}: {target}'


@pytest.fixture
def own_loss():
    """The loss of the page, registered for one test."""
    block = re.search(r'```python\n(.*?)```', (ROOT / 'docs/write_your_own_loss.md').read_text(), re.DOTALL).group(1)
    assert len(re.findall(r'^.*\S', block, re.MULTILINE)) <= 20
    namespace = {}
    exec(compile(block, 'docs/write_your_own_loss.md', 'exec'), namespace)
    yield namespace['CircleLoss']
    del MODELS.module_dict['CircleLoss']


@pytest.mark.parametrize('engine', [
    dict(type='DenseEngine'), dict(type='FusedEngine', mode='store'), dict(type='FusedEngine', mode='recompute')],
    ids=lambda engine: f"{engine['type']}-{engine.get('mode')}")
def test_loss_of_the_page_is_circle_loss(own_loss, engine):
    s, m = 8., .25
    config = dict(type='FaceClsHead', num_classes=9, in_channels=4, init_std=1., engine=engine, loss=dict(type='CircleLoss', s=s))
    head = MODELS.build(config).double()
    x = torch.randn(6, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(0)).requires_grad_()
    y = torch.tensor([0, 8, 3, 3, 1, 5])
    loss = head.compute_loss(x, y)['loss']

    cosine = F.normalize(x) @ F.normalize(head.weight).t()
    own = F.one_hot(y, 9).bool()
    constant = cosine.detach()
    logits = torch.where(own, s * (1 + m - constant).relu() * (cosine - (1 - m)), s * (constant + m).relu() * (cosine - m))
    expected = F.cross_entropy(logits, y)
    torch.testing.assert_close(loss, expected)
    torch.testing.assert_close(torch.autograd.grad(loss, (x, head.weight)), torch.autograd.grad(expected, (x, head.weight)))


@pytest.fixture(scope='module')
def plot_losses():
    spec = importlib.util.spec_from_file_location('plot_losses', ROOT / 'tools/analysis/plot_losses.py')
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_curves_are_the_formulas(plot_losses):
    angle = torch.linspace(5, 175, 35, dtype=torch.float64)
    radians, cosine = angle.deg2rad(), angle.deg2rad().cos()

    def target(**config):
        values, slopes, is_softmax = plot_losses.target_curve(LossProbe(config), angle)
        assert is_softmax
        return values, slopes

    close = dict(rtol=1e-6, atol=1e-6)
    torch.testing.assert_close(target(type='CosFaceLoss'), (64 * (cosine - .35), torch.full_like(angle, 64.)), **close)
    arcface = 64 * (radians + .5).cos(), 64 * (radians + .5).sin() / radians.sin()
    torch.testing.assert_close(target(type='ArcFaceLoss', beyond_pi='none'), arcface, **close)
    detached = target(type='ArcFaceLoss', beyond_pi='none', detach_margin=True)
    torch.testing.assert_close(detached, (arcface[0], torch.full_like(angle, 64.)), **close)

    values, slopes, is_softmax = plot_losses.target_curve(LossProbe(dict(type='P2SGradLoss')), angle)
    assert not is_softmax
    torch.testing.assert_close((values, slopes), (-(1 - cosine)**2 / 2, 1 - cosine))
    values, _ = plot_losses.negative_curve(LossProbe(dict(type='CurricularFaceLoss', state=dict(t=.5))), angle)
    hard = cosine > torch.tensor(torch.pi / 3 + .5).cos()
    torch.testing.assert_close(values, 64 * torch.where(hard, cosine * (.5 + cosine), cosine), **close)


def test_command_draws_given_losses(plot_losses, tmp_path, capsys):
    picture = tmp_path / 'two.png'
    assert plot_losses.main(['CosFaceLoss', "dict(type='ArcFaceLoss', m=.3)", '--out', str(picture)]) == 0
    assert picture.stat().st_size > 5000
    assert capsys.readouterr().out.strip() == str(picture)


def test_every_page_with_formulas_of_the_angle_has_its_picture(plot_losses):
    for page in plot_losses.PAGES:
        assert f'({page}.png)' in PAGES[ROOT / f'docs/losses/{page}.md']
