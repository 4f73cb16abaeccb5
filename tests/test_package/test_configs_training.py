"""Every config trains: two iterations of its own model, data pipeline, optimiser and hooks on faces that a generator draws.

Made small: batch, classes, workers, and the depth of an IResNet, which is 18 for all. Nothing else is changed.
"""
from pathlib import Path

import cv2
import numpy as np
import pytest
import torch
from mmengine.config import Config
from mmengine.runner import Runner

from mmface.apis.train import train
from mmface.datasets.formats.recordio.writer import write_training_set
from mmface.datasets.procedural import ProceduralFaces

CONFIGS = Path(__file__).resolve().parents[2] / 'configs'
EXPERIMENTS = sorted(CONFIGS.glob('[!_]*/*.py'))
PEOPLE, BATCH = 4, 2


@pytest.fixture(scope='module')
def data(tmp_path_factory) -> Path:
    """One picture of each person: ``train.rec``, 112 x 112; folders ``144px``, and ``144px_first`` and ``144px_second`` with half."""
    out, faces = tmp_path_factory.mktemp('faces'), ProceduralFaces(0)
    pictures = [faces.jpeg(person, 0) for person in range(PEOPLE)]
    write_training_set(out / 'train.rec', ((picture, ) for picture in pictures))
    for person, picture in enumerate(pictures):
        large = cv2.resize(cv2.imdecode(np.frombuffer(picture, np.uint8), cv2.IMREAD_COLOR), (144, 144))
        for folder in ('144px', '144px_first' if person < PEOPLE // 2 else '144px_second'):
            (out / folder / f'{person}').mkdir(parents=True)
            assert cv2.imwrite(str(out / folder / f'{person}/0.jpg'), large)
    return out


@pytest.fixture(autouse=True)
def _says_little(monkeypatch) -> None:
    """Printing the config nicely and asking compilers for their versions takes longer than the two iterations."""
    monkeypatch.setattr(Runner, '_log_env', lambda self, env_cfg: None)
    monkeypatch.setattr(Config, 'pretty_text', '')


def made_small(config: Config, data: Path) -> dict:
    """The changes to a config that make it small and find the generated data."""
    changes = {
        'model.head.num_classes': PEOPLE,
        'train_dataloader.batch_size': BATCH,
        'train_dataloader.num_workers': 0,
        'train_cfg.max_epochs': 1,
    }
    if config.model.backbone.type == 'IResNet':
        changes['model.backbone.depth'] = 18
    dataset = config.train_dataloader.dataset
    if dataset.type == 'ConcatDataset':
        halves = {'train_dataloader.dataset.datasets.0.path': '144px_first', 'train_dataloader.dataset.datasets.1.path': '144px_second'}
        return changes | {key: str(data / folder) for key, folder in halves.items()}
    return changes | {'train_dataloader.dataset.path': str(data / ('144px' if dataset.path.endswith('144px') else 'train.rec'))}


@pytest.mark.parametrize('file', EXPERIMENTS, ids=lambda file: file.stem)
def test_two_iterations(file, data, tmp_path):
    config = Config.fromfile(file)
    config.default_hooks.checkpoint.update(interval=2, save_last=False, save_best=None)  # a network a config would be written
    config.visualizer = None
    runner = train(config, work_dir=tmp_path, validate=False, cfg_options=made_small(config, data))
    assert runner.iter == 2
    assert torch.isfinite(torch.as_tensor(runner.message_hub.get_scalar('train/loss').current()))
    moved = [name for name, p in runner.model.named_parameters() if p in runner.optim_wrapper.optimizer.state]
    assert moved == [name for name, p in runner.model.named_parameters() if p.requires_grad], 'some parameters got no gradient'
