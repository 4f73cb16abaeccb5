"""What configs come to equals what the papers, and where these are silent the authors' code, say of themselves.

The numbers of the tables are typed from the sources, never read from a config; those of the configs come out of MMEngine's builders.
"""
import ast
import re
from copy import deepcopy
from pathlib import Path
from typing import ClassVar, NamedTuple

import numpy as np
import pytest
import torch
from mmengine.config import Config
from mmengine.optim import OptimWrapper, build_optim_wrapper
from mmengine.registry import DefaultScope
from mmengine.runner import Runner
from torch import nn

from mmface.datasets.pipeline import build_pipeline
from mmface.registry import MODELS, PARAM_SCHEDULERS, TRANSFORMS

CONFIGS = Path(__file__).resolve().parents[2] / 'configs'
NAMES = [str(file.relative_to(CONFIGS).with_suffix('')) for file in sorted(CONFIGS.glob('[!_]*/*.py'))]

SETS = {  # as the sets' sources give them: identities, images
    'casia_webface': (10_572, 490_623),
    'casia_webface_144px': (10_575, 450_000),
    'casia_ms1m_144px': (96_317, 2_800_000),
    'vggface2': (9_131, 3_310_000),
    'ms1mv2': (85_742, 5_822_653),
    'ms1mv3': (93_431, 5_179_510),
    'glint360k': (360_232, 17_091_657),
    'webface4m': (205_990, 4_235_242),
    'webface12m': (617_970, 12_720_066),
    'webface42m': (2_059_906, 42_474_557),
    'procedural_toy': (10, 2_000),
}
SETS_OF = {  # what a config's path says -> its set
    'data/casia_webface_144px': 'casia_webface_144px',
    **{f'data/{name}/train.rec': name for name in SETS},
}


class Training(NamedTuple):
    """A recipe whose learning rate is 0.1, divided by 10 from each of ``steps`` epochs on; without steps it falls as a polynomial."""
    gpus: int
    batch: int
    epochs: int
    decay: float
    decays_norms: bool
    steps: tuple[int, ...]
    source: str


INSIGHTFACE = Training(8, 128, 20, 5e-4, True, (), 'insightface arcface_torch, configs/ms1mv3_r50.py and base.py: polynomial of power 2')
GLINT = INSIGHTFACE._replace(decay=1e-4, source='insightface arcface_torch, configs/glint360k_r100.py')
GB = Training(8, 64, 24, 5e-4, True, (4, 9, 14, 19), 'GB-CosFace, config.py: 0.1 ** #{m in (5, 10, 15, 20): m - 1 <= epoch}')
ADAFACE = Training(2, 256, 26, 5e-4, False, (12, 20, 24), 'AdaFace, scripts/run_ir50_ms1mv2.sh and train_val.py')
MAGFACE = Training(8, 64, 25, 5e-4, True, (10, 18, 22), 'MagFace, run/run.sh')
CURRICULAR = Training(4, 128, 24, 5e-4, False, (10, 18, 22), 'CurricularFace, config.py and train.py')
RECIPES = {  # how names of configs end -> the recipe, the set
    '_iresnet50_8xb128_ms1mv3': (INSIGHTFACE, 'ms1mv3'),
    '_iresnet50_8xb128_casia': (INSIGHTFACE, 'casia_webface'),
    '_iresnet100_8xb128_glint360k': (GLINT, 'glint360k'),
    '_iresnet100_8xb128-pfc02_webface12m': (INSIGHTFACE, 'webface12m'),
    '_iresnet100_8xb128-pfc02_webface42m': (INSIGHTFACE, 'webface42m'),
    '_iresnet100_8xb64_ms1mv2': (GB, 'ms1mv2'),
    '_iresnet50_8xb64_ms1mv3': (GB, 'ms1mv3'),
    '_resnet50_8xb64_casia-144px': (GB, 'casia_webface_144px'),
    '_inception-resnet_8xb64_casia-ms1m-144px': (GB, 'casia_ms1m_144px'),
    '_2xb256_casia': (ADAFACE, 'casia_webface'),
    '_2xb256_vggface2': (ADAFACE, 'vggface2'),
    '_2xb256_ms1mv2': (ADAFACE, 'ms1mv2'),
    '_2xb256_ms1mv3': (ADAFACE, 'ms1mv3'),
    '_2xb256_webface4m': (ADAFACE, 'webface4m'),
    '_2xb256_webface12m': (ADAFACE, 'webface12m'),
    '_iresnet100_8xb64-25e_ms1mv2': (MAGFACE, 'ms1mv2'),
    '_iresnet100_4xb128_ms1mv2': (CURRICULAR, 'ms1mv2'),
}
OURS = {  # recipes of this project, which no paper says anything of
    'arcface/arcface_mobilefacenet_1xb32_own-photos',
    'arcface/arcface_mobilefacenet_1xb64_lfw-holdout10',
    'cosface/cosface_mobilefacenet_1xb64_lfw-holdout10',
    'demo/arcface_mobilefacenet_procedural',
    'gb_cosface/gb-cosface_seven-layer_1xb64_toy',
}
OF_PAPERS = [name for name in NAMES if name not in OURS]

# Iterations of an epoch and of the whole training, and the first with each lower learning rate, of a paper's main setting; by hand:
# images / (gpus * batch), rounded down; that times epochs; that times the steps.
ITERATIONS = {
    'adaface/adaface_iresnet100_2xb256_ms1mv2': (11_372, 295_672, [136_464, 227_440, 272_928]),
    'adaface/adaface_iresnet50_2xb256_casia': (958, 24_908, [11_496, 19_160, 22_992]),
    'adaface/adaface_iresnet100_2xb256_webface4m': (8_271, 215_046, [99_252, 165_420, 198_504]),
    'adaface/adaface_iresnet100_2xb256_webface12m': (24_843, 645_918, [298_116, 496_860, 596_232]),
    'gb_cosface/gb-cosface_iresnet100_8xb64_ms1mv2': (11_372, 272_928, [45_488, 102_348, 159_208, 216_068]),
    'gb_cosface/gb-cosface_iresnet50_8xb64_ms1mv3': (10_116, 242_784, [40_464, 91_044, 141_624, 192_204]),
    'arcface/arcface_iresnet50_8xb128_ms1mv3': (5_058, 101_160, []),
    'cosface/cosface_iresnet100_8xb128_glint360k': (16_691, 333_820, []),
    'magface/magface_iresnet100_8xb64-25e_ms1mv2': (11_372, 284_300, [113_720, 204_696, 250_184]),
    'curricularface/curricularface_iresnet100_4xb128_ms1mv2': (11_372, 272_928, [113_720, 204_696, 250_184]),
}
LOSSES = {  # the authors' code, else their paper
    'adaface': dict(s=64, m=.4, h=.333, momentum=.01, clip=True, scale_g_add=True, detach_margin=False),
    'arcface': dict(s=64, m=.5, detach_margin=False, beyond_pi='monotone'),
    'cosface': dict(s=64, m=.35),
    'magface': dict(s=64, l_a=10, u_a=110, l_m=.45, slope=.0035, lambda_g=35),
    'curricularface': dict(s=64, m=.5, momentum=.01),
    'normface': dict(s=30),
    'sphereface': dict(m=4, schedule=dict(base=1000, gamma=.12, power=1, min=5)),
    'p2sgrad': dict(reduction='mean'),
    'gb-cosface': dict(s=32, m=.16, alpha=.15, gamma=.01, clamp=(.5, .7), detach_boundary=True),
}
OTHER_LOSSES = {  # where a config follows another source than the rest of its method
    'arcface/arcface_iresnet50_8xb128_ms1mv3': dict(s=64, m=.5, detach_margin=True, beyond_pi='none'),  # insightface
    'cosface/cosface_iresnet50_8xb128_ms1mv3': dict(s=64, m=.4),  # insightface
    'cosface/cosface_iresnet100_8xb128_glint360k': dict(s=64, m=.4),
    'cosface/cosface_iresnet100_8xb128-pfc02_webface12m': dict(s=64, m=.4),
    'cosface/cosface_iresnet100_8xb128-pfc02_webface42m': dict(s=64, m=.4),
}
# Millions of parameters that the authors' networks have, backbone and embedding.
PARAMETERS = {
    'arcface/arcface_iresnet50_8xb128_ms1mv3': 43.59,
    'gb_cosface/gb-cosface_iresnet100_8xb64_ms1mv2': 65.16,
    'magface/magface_iresnet100_8xb64-25e_ms1mv2': 65.16,
    'adaface/adaface_iresnet18_2xb256_casia': 24.02,
    'adaface/adaface_iresnet50_2xb256_ms1mv2': 43.59,
    'adaface/adaface_iresnet100_2xb256_ms1mv2': 65.15,
    'curricularface/curricularface_iresnet100_4xb128_ms1mv2': 65.13,
}


def load(name: str) -> Config:
    return Config.fromfile(CONFIGS / f'{name}.py')


def header_of(file: Path) -> str:
    return ast.get_docstring(ast.parse(file.read_text(encoding='utf-8'))) or ''


def recipe_of(name: str) -> tuple[Training, str]:
    (found, ) = [value for ending, value in RECIPES.items() if name.endswith(ending)]
    return found


def small_model(config: Config) -> nn.Module:
    """The config's model with 64 classes, and at the least depth: what is looked at here does not depend on either."""
    model = deepcopy(config.model)
    model.head.num_classes = 64
    if model.backbone.type == 'IResNet':
        model.backbone.depth = 18
    return MODELS.build(model)


class Sized:
    """As many images as a set has."""
    metainfo: ClassVar[dict] = {}

    def __init__(self, images: int) -> None:
        self.images = images

    def __len__(self) -> int:
        return self.images


def iterations_an_epoch(config: Config, images: int, gpus: int, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr('mmface.datasets.samplers.face_sampler.get_dist_info', lambda: (0, gpus))
    return len(Runner.build_dataloader(dict(config.train_dataloader, dataset=Sized(images), num_workers=0, persistent_workers=False)))


def rates(config: Config, an_epoch: int) -> np.ndarray:
    """The learning rate of every iteration, by MMEngine's schedulers stepped as its hook does."""
    epochs = config.train_cfg.max_epochs
    optimizer = torch.optim.SGD([nn.Parameter(torch.zeros(1))], lr=config.optim_wrapper.optimizer.lr)
    given = dict(optimizer=OptimWrapper(optimizer), epoch_length=an_epoch)
    built = [PARAM_SCHEDULERS.build({'end': epochs, **scheduler}, default_args=given) for scheduler in config.param_scheduler]
    seen = np.empty((epochs, an_epoch))
    for epoch in range(epochs):
        for at in range(an_epoch):
            seen[epoch, at] = optimizer.param_groups[0]['lr']
            for scheduler in built:
                if not scheduler.by_epoch:
                    scheduler.step()
        for scheduler in built:
            if scheduler.by_epoch:
                scheduler.step()
    return seen.ravel()


@pytest.fixture(autouse=True)
def _scope():
    with DefaultScope.overwrite_default_scope('mmface'):
        yield


def test_every_config_is_a_papers_or_named_as_ours():
    assert set(NAMES) >= OURS
    for name in OF_PAPERS:
        assert recipe_of(name)


@pytest.mark.parametrize('name', OF_PAPERS)
def test_devices_batch_and_base_of_the_learning_rate_are_the_recipes(name):
    config, (recipe, _) = load(name), recipe_of(name)
    command = re.search(rf'dist_train.sh configs/{re.escape(name)}.py (\d+)', header_of(CONFIGS / f'{name}.py'))
    assert (int(command[1]), config.train_dataloader.batch_size) == (recipe.gpus, recipe.batch), recipe.source
    assert f'_{recipe.gpus}xb{recipe.batch}' in name
    # Run as the command says, the learning rate is the recipe's 0.1, with --auto-scale-lr as without.
    assert config.auto_scale_lr.base_batch_size == recipe.gpus * recipe.batch
    assert config.optim_wrapper.optimizer.lr == .1
    assert config.optim_wrapper.get('accumulative_counts', 1) == 1


@pytest.mark.parametrize('name', OF_PAPERS)
def test_classes_of_the_head_are_the_identities_of_the_set(name):
    config, (_, data) = load(name), recipe_of(name)
    dataset = config.train_dataloader.dataset
    assert config.model.head.num_classes == SETS[data][0]
    if dataset.type == 'ConcatDataset':
        assert (data, [part.path for part in dataset.datasets]) == ('casia_ms1m_144px', ['data/casia_webface_144px', 'data/ms1m_144px'])
    else:
        assert SETS_OF[dataset.path] == data


@pytest.mark.parametrize('data', SETS)
def test_a_set_says_who_is_in_it_where_to_apply_and_whether_it_was_withdrawn(data):
    header = header_of(CONFIGS / '_base_/datasets' / f'{data}.py')
    fields = dict(re.findall(r'^(Identities|Images|Source|Apply|Terms|Withdrawn|Licence): (.+)$', header, re.MULTILINE))
    assert set(fields) == {'Identities', 'Images', 'Source', 'Apply', 'Terms', 'Withdrawn', 'Licence'}
    identities, images = SETS[data]
    assert f'{identities:,}' in fields['Identities']
    assert f'{images:,}' in fields['Images'] or data == 'casia_ms1m_144px'
    assert f'`{data}`' in (CONFIGS / '_base_/datasets/README.md').read_text(encoding='utf-8') or data == 'procedural_toy'
    if 'ms1m' in data:
        assert '2019' in fields['Withdrawn']


@pytest.mark.parametrize('name', ITERATIONS)
def test_iterations_and_steps_of_the_main_settings_are_those_computed_by_hand(name, monkeypatch):
    config, (recipe, data) = load(name), recipe_of(name)
    an_epoch, total, drops = ITERATIONS[name]
    assert iterations_an_epoch(config, SETS[data][1], recipe.gpus, monkeypatch) == an_epoch
    rate = rates(config, an_epoch)
    assert len(rate) == total
    assert rate[0] == .1, 'there is no warm-up'
    if drops:
        assert (np.flatnonzero(np.diff(rate)) + 1).tolist() == drops
    else:  # arcface_torch's PolyScheduler
        np.testing.assert_allclose(rate, .1 * (1 - np.arange(total) / total)**2, atol=.1 * 3 / total)


@pytest.mark.parametrize('name', OF_PAPERS)
def test_the_learning_rate_of_every_epoch_is_the_recipes(name):
    config, (recipe, _) = load(name), recipe_of(name)
    rate = rates(config, 10)
    assert len(rate) == 10 * recipe.epochs, recipe.source
    expected = [.1 * .1**sum(step <= epoch for step in recipe.steps) for epoch in range(recipe.epochs) for _ in range(10)]
    if not recipe.steps:
        expected = [.1 * (1 - at / len(rate))**2 for at in range(len(rate))]
    np.testing.assert_allclose(rate, expected, atol=2e-3 * (not recipe.steps), rtol=1e-9)


# One config a recipe: the others differ from it in the loss alone, which the next test but one sees to.
@pytest.mark.parametrize('name', [
    'arcface/arcface_iresnet50_8xb128_ms1mv3',
    'cosface/cosface_iresnet100_8xb128_glint360k',
    'gb_cosface/gb-cosface_iresnet100_8xb64_ms1mv2',
    'adaface/adaface_iresnet50_2xb256_ms1mv2',
    'p2sgrad/p2sgrad_resnet50_8xb64_casia-144px',
    'p2sgrad/p2sgrad_inception-resnet_8xb64_casia-ms1m-144px',
    'magface/magface_iresnet100_8xb64-25e_ms1mv2',
    'curricularface/curricularface_iresnet100_4xb128_ms1mv2',
])
def test_what_is_decayed_is_what_the_recipe_decays(name):
    config, (recipe, _) = load(name), recipe_of(name)
    model = small_model(config)
    wrapper = build_optim_wrapper(model, config.optim_wrapper)
    decay = {parameter: group['weight_decay'] for group in wrapper.param_groups for parameter in group['params'] if parameter.requires_grad}
    assert set(decay) == {p for p in model.parameters() if p.requires_grad}
    of_norms = {p for m in model.modules() if isinstance(m, nn.modules.batchnorm._BatchNorm) for p in m.parameters() if p.requires_grad}
    assert of_norms
    for parameter, value in decay.items():
        assert value == (recipe.decay if recipe.decays_norms or parameter not in of_norms else 0), recipe.source
    assert all(group['momentum'] == .9 for group in wrapper.param_groups)
    assert (wrapper.clip_grad_kwargs or {}) == (dict(max_norm=5.) if recipe.source.startswith('insightface') else {})


@pytest.mark.parametrize('name', OF_PAPERS)
def test_the_loss_has_its_papers_numbers(name):
    loss = MODELS.build(dict(load(name).model.head.loss, num_classes=64))
    expected = OTHER_LOSSES.get(name) or LOSSES[Path(name).name.partition('_')[0]]
    for attribute, value in expected.items():
        assert getattr(loss, attribute) == (pytest.approx(value) if isinstance(value, float) else value), attribute


@pytest.mark.parametrize('ending', [
    '_iresnet50_8xb128_ms1mv3', '_iresnet100_8xb64_ms1mv2', '_iresnet100_2xb256_ms1mv2', '_resnet50_8xb64_casia-144px',
    '_inception-resnet_8xb64_casia-ms1m-144px'
])
def test_a_comparison_in_one_recipe_has_all_baselines_and_differs_in_the_loss_alone(ending):
    configs = {Path(name).name.partition('_')[0]: load(name).to_dict() for name in NAMES if name.endswith(ending)}
    assert set(configs) >= {'arcface', 'cosface', 'magface', 'curricularface', 'normface', 'sphereface'}
    losses = {method: config['model']['head'].pop('loss') for method, config in configs.items()}
    assert len({loss['type'] for loss in losses.values()}) == len(configs)
    for config in configs.values():
        assert config == configs['arcface']


@pytest.mark.parametrize('name', PARAMETERS)
def test_the_network_has_as_many_parameters_as_its_authors(name):
    model = load(name).model
    with torch.device('meta'):
        parts = [MODELS.build(model[part]) for part in ('backbone', 'neck')]
    assert round(sum(p.numel() for part in parts for p in part.parameters()) / 1e6, 2) == PARAMETERS[name]


@pytest.mark.parametrize(('name', 'red', 'dropout', 'row'), [
    ('arcface/arcface_iresnet50_8xb128_ms1mv3', (1, -1, -1), 0, .01 * 512**.5),  # insightface: RGB, N(0, 0.01)
    ('gb_cosface/gb-cosface_iresnet100_8xb64_ms1mv2', (1, -1, -1), 0, 1),  # BaseHead.py: uniform, then length one
    ('adaface/adaface_iresnet50_2xb256_ms1mv2', (-1, -1, 1), .4, 1),  # net.py, head.py: BGR
    ('magface/magface_iresnet100_8xb64-25e_ms1mv2', (0, 0, 1), .4, 1),  # BGR from 0 to 1
    ('curricularface/curricularface_iresnet100_4xb128_ms1mv2', (1, -1, -1), .4, .01 * 512**.5),
    ('p2sgrad/p2sgrad_resnet50_8xb64_casia-144px', (127.5 / 128, -127.5 / 128, -127.5 / 128), 0, None),  # the paper: (x - 127.5) / 128
])
def test_what_the_network_sees_of_red_its_dropout_and_the_length_of_its_first_prototypes(name, red, dropout, row):
    config = load(name)
    model = small_model(config)
    height, width = model.data_preprocessor.size
    image = torch.zeros(1, 3, height, width, dtype=torch.uint8)
    image[:, 0] = 255
    torch.testing.assert_close(model.data_preprocessor(dict(inputs=image))['inputs'][0, :, 0, 0], torch.tensor(red, dtype=torch.float32))
    assert (height, width) == ((144, 144) if 'p2sgrad' in name else (112, 112))
    assert model.neck.dropout.p == dropout
    assert model.head.in_channels == 512
    if row is not None:
        assert model.head.weight.norm(dim=1).mean().item() == pytest.approx(row, rel=.02)


@pytest.mark.parametrize('name', OF_PAPERS)
def test_images_are_augmented_as_the_recipe_does(name):
    dataset = load(name).train_dataloader.dataset
    pipelines = [part.pipeline for part in dataset.datasets] if dataset.type == 'ConcatDataset' else [dataset.pipeline]
    quality = ['RandomCropInPlace', 'RandomLowResolution', 'RandomPhotometric'] if '_2xb256_' in name else []
    for pipeline in pipelines:
        build_pipeline(pipeline)
        assert [step.type for step in pipeline] == ['DecodeFace', *quality, 'RandomFlip', 'PackFace']
        steps = {step.type: TRANSFORMS.build(step) for step in pipeline}
        assert steps['RandomFlip']._ends == [.5]
        if quality:  # AdaFace, dataset/augmenter.py
            assert [steps[kind].prob for kind in quality] == [.2, .2, .2]
            crop, low, colour = (steps[kind] for kind in quality)
            assert (crop.scale, crop.ratio, low.scale) == ((.2, 1.), (3 / 4, 4 / 3), (.2, 1.))
            assert [amount for _, amount in colour.steps] == [.5, .5, .5]


@pytest.mark.parametrize(('name', 'sharded', 'ratio'), [
    ('cosface/cosface_iresnet100_8xb128_glint360k', True, None),
    ('cosface/cosface_iresnet100_8xb128-pfc02_webface12m', True, .2),
    ('cosface/cosface_iresnet100_8xb128-pfc02_webface42m', True, .2),
])
def test_heads_of_many_identities_are_sharded_and_sampled(name, sharded, ratio):
    head = small_model(load(name)).head
    assert bool(head.shard_spec) == sharded
    assert getattr(head.engine, 'ratio', None) == ratio
