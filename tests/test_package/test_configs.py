"""Every config: opens with what it is for, parses, names things that exist with arguments they take, and its model runs."""
import ast
import inspect
from pathlib import Path

import pytest
from mmengine.config import Config, ConfigDict
from mmengine.fileio import load
from mmengine.registry import DefaultScope

from mmface import registry
from mmface.zoo.checker.complexity import complexity

CONFIGS = Path(__file__).resolve().parents[2] / 'configs'
METHODS = sorted(folder for folder in CONFIGS.iterdir() if folder.is_dir() and folder.name != '_base_') if CONFIGS.is_dir() else []
EXPERIMENTS = sorted(file for folder in METHODS for file in folder.rglob('*.py'))
BASES = sorted((CONFIGS / '_base_').rglob('*.py'))
REGISTRY = {  # the key under which a thing stands -> where its type is looked up
    'collate_fn': registry.FUNCTIONS,
    'custom_hooks': registry.HOOKS,
    'dataset': registry.DATASETS,
    'datasets': registry.DATASETS,
    'init_cfg': registry.WEIGHT_INITIALIZERS,
    'log_processor': registry.LOG_PROCESSORS,
    'model': registry.MODELS,
    'optim_wrapper': registry.OPTIM_WRAPPERS,
    'optimizer': registry.OPTIMIZERS,
    'param_scheduler': registry.PARAM_SCHEDULERS,
    'pipeline': registry.TRANSFORMS,
    'sampler': registry.DATA_SAMPLERS,
    'test_cfg': registry.LOOPS,
    'test_evaluator': registry.METRICS,
    'train_cfg': registry.LOOPS,
    'val_cfg': registry.LOOPS,
    'val_evaluator': registry.METRICS,
    'vis_backends': registry.VISBACKENDS,
    'visualizer': registry.VISUALIZERS,
}
ALSO = {registry.LOOPS: {'by_epoch'}, registry.OPTIM_WRAPPERS: {'constructor', 'paramwise_cfg'}}  # what the runner takes out first


def name_of(file: Path) -> str:
    return str(file.relative_to(CONFIGS))


def faults(value, where: str = '', found_in=None) -> list[str]:
    """What in a config names nothing, or gives an argument that is not taken."""
    if isinstance(value, list | tuple):
        return [fault for at, item in enumerate(value) for fault in faults(item, f'{where}[{at}]', found_in)]
    if not isinstance(value, ConfigDict | dict):
        return []
    wrong = []
    if 'type' in value and found_in is not None:
        target = found_in.get(value['type']) if isinstance(value['type'], str) else value['type']
        if target is None:
            return [f'{where}: {value["type"]} is not in the registry {found_in.name!r}']
        arguments = set(value) - {'type', '_scope_'} - ALSO.get(found_in, set())
        taken = inspect.signature(target).parameters.values()
        if not any(parameter.kind is parameter.VAR_KEYWORD for parameter in taken):
            wrong = [f'{where}: {value["type"]} takes no {name!r}' for name in sorted(arguments - {parameter.name for parameter in taken})]
    for key, item in value.items():
        below = f'{where}.{key}' if where else key
        if key == 'default_hooks':
            wrong += [fault for name, hook in item.items() for fault in faults(hook, f'{below}.{name}', registry.HOOKS)]
        else:  # inside a model everything is a model; elsewhere what stands under a known key is checked
            wrong += faults(item, below, REGISTRY.get(key, found_in if found_in is registry.MODELS else None))
    return wrong


@pytest.fixture(autouse=True)
def _scope():
    with DefaultScope.overwrite_default_scope('mmface'):
        yield


def test_there_is_a_config():
    assert EXPERIMENTS


@pytest.mark.parametrize('file', EXPERIMENTS, ids=name_of)
def test_a_config_opens_with_paper_command_and_expected_result(file):
    header = ast.get_docstring(ast.parse(file.read_text(encoding='utf-8')))
    assert header
    for word in ('paper', 'command', 'expected'):
        assert word in header.lower(), f'{name_of(file)} says no {word!r} in its docstring'
    assert name_of(file) in header, 'the command names another config'


@pytest.mark.parametrize('file', EXPERIMENTS + BASES, ids=name_of)
def test_a_config_parses_and_survives_being_written_out(file, tmp_path):
    config = Config.fromfile(file)
    config.dump(tmp_path / 'dumped.py')
    assert Config.fromfile(tmp_path / 'dumped.py').to_dict() == config.to_dict()


@pytest.mark.parametrize('file', EXPERIMENTS, ids=name_of)
def test_all_that_a_config_names_exists_and_takes_its_arguments(file):
    config = Config.fromfile(file)
    assert config.default_scope == 'mmface'
    assert faults(config._cfg_dict) == []


@pytest.mark.parametrize('file', EXPERIMENTS, ids=name_of)
def test_the_model_of_a_config_turns_images_of_its_size_into_embeddings_of_its_head(file):
    model = Config.fromfile(file).model
    assert complexity(model).dim == model.head.in_channels  # on torch's meta device


def test_a_wrong_type_and_a_wrong_argument_are_found():
    config = dict(
        model=dict(type='FaceRecognizer', backbone=dict(type='MobileFaceNett')),
        optim_wrapper=dict(type='OptimWrapper', optimizer=dict(type='SGD', lr=0.1, momentumm=0.9)),
        default_hooks=dict(param_scheduler=dict(type='ParamSchedulerHok')),
        train_cfg=dict(type='EpochBasedTrainLoop', max_epochs=1, by_epoch=True))
    assert faults(config) == [
        "model.backbone: MobileFaceNett is not in the registry 'model'", "optim_wrapper.optimizer: SGD takes no 'momentumm'",
        "default_hooks.param_scheduler: ParamSchedulerHok is not in the registry 'hook'"
    ]


def test_the_model_index_lists_the_metafile_of_every_method():
    index = load(CONFIGS.parent / 'model-index.yml')
    assert index['Import'] == [f'configs/{folder.name}/metafile.yml' for folder in METHODS]


@pytest.mark.parametrize('folder', METHODS, ids=name_of)
def test_a_metafile_says_what_is_there(folder):
    metafile = load(folder / 'metafile.yml')
    collections = {collection['Name'] for collection in metafile['Collections']}
    for collection in metafile['Collections']:
        assert (CONFIGS.parent / collection['README']).is_file()
        assert set(collection['Paper']) >= {'Title', 'URL'}
    assert {model['In Collection'] for model in metafile['Models']} <= collections
    configs = {model['Config']: model['Name'] for model in metafile['Models'] if 'Config' in model}
    for config, name in configs.items():
        assert (CONFIGS.parent / config).is_file()
        assert Path(config).stem == name
    assert set(configs) == {f'configs/{name_of(file)}' for file in sorted(folder.rglob('*.py'))}


@pytest.mark.parametrize('folder', METHODS, ids=name_of)
def test_a_readme_lists_every_config_of_its_folder(folder):
    readme = (folder / 'README.md').read_text(encoding='utf-8')
    assert [file.name for file in folder.glob('*.py') if f'({file.name})' not in readme] == []
