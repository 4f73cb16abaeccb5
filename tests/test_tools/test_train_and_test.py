"""What the command lines of training and testing say to bad input: one line that names it, and exit code 2."""
import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from mmface.datasets.formats.errors import DataFormatError

ROOT = Path(__file__).resolve().parents[2]
CONFIG = str(ROOT / 'configs/arcface/arcface_mobilefacenet_1xb32_own-photos.py')


def tool(name: str):
    spec = importlib.util.spec_from_file_location(f'tool_{name}', ROOT / f'tools/{name}.py')
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.main


@pytest.fixture
def photos(tmp_path, monkeypatch):
    """Six people with two images each, in ``data/faces`` below the working directory."""
    import cv2
    generator = np.random.default_rng(0)
    for person in range(6):
        folder = tmp_path / f'data/faces/person{person}'
        folder.mkdir(parents=True)
        for image in range(2):
            cv2.imwrite(str(folder / f'{image}.jpg'), generator.integers(0, 256, (112, 112, 3), np.uint8))
    monkeypatch.chdir(tmp_path)
    return tmp_path


SMALL = ['--no-validate', '--cfg-options', 'train_dataloader.batch_size=4', 'train_dataloader.num_workers=0']


@pytest.mark.parametrize(('arguments', 'said'), [
    (['none.py'], 'none.py'),
    ([CONFIG, '--resume', 'none.pth', *SMALL, 'model.head.num_classes=6'], 'none.pth'),
    ([CONFIG, '--resume', 'torn.pth', *SMALL, 'model.head.num_classes=6'], 'torn.pth cannot be loaded'),
    ([CONFIG, *SMALL, 'model.head.num_classes=3'], 'label 3 outside num_classes=3'),
    ([CONFIG, *SMALL, 'model.head.num_classes=6', 'train_dataloader.batch_size=64'], '12 images do not fill a batch of 64'),
    ([CONFIG, *SMALL, 'model.head.num_classes=6', 'model.head.loss.type=ArcFaceLos'], 'ArcFaceLos is not in'),
    ([CONFIG, *SMALL, 'model.head.num_classes=6', 'model.head.loss.margn=1'], 'margn'),
    ([CONFIG, *SMALL, 'model.head.num_classes=6', 'train_dataloader.dataset.path=nowhere'], 'nowhere'),
    ([CONFIG, *SMALL, 'modle.head.num_classes=6'], "'modle'"),
    ([CONFIG, '--launcher', 'pytorch', *SMALL], 'torchrun'),
])
def test_training_answers_bad_input_in_one_line(photos, capsys, monkeypatch, arguments, said):
    monkeypatch.delenv('RANK', raising=False)
    (photos / 'torn.pth').write_bytes(b'PK not a checkpoint')
    assert tool('train')([*arguments, 'default_hooks.logger.interval=1'] if '--cfg-options' in arguments else arguments) == 2
    last = capsys.readouterr().err.strip().splitlines()[-1]
    assert last.startswith('train: ')
    assert said in last


def test_a_head_with_more_classes_than_the_data_is_remarked_upon(photos):
    from mmface.datasets import DataFormatWarning, FaceDataset
    with pytest.warns(DataFormatWarning, match='6 classes.*num_classes=100'):
        FaceDataset('data/faces', num_classes=100)


@pytest.mark.parametrize(('arguments', 'said'), [
    ([CONFIG, 'none.pth'], 'none.pth can not be found'),
    ([CONFIG, 'some.pth'], 'data/pairs'),
    ([CONFIG, 'none.pth', '--out', 'numbers.txt'], '.json, .yaml or .yml'),
])
def test_testing_answers_bad_input_in_one_line(photos, capsys, arguments, said):
    Path('some.pth').touch()
    assert tool('test')(arguments) == 2
    assert said in capsys.readouterr().err.strip().splitlines()[-1]


def test_the_demo_answers_a_missing_config_and_not_with_the_code_of_a_failed_promise(photos, capsys):
    assert tool('demo')(['--config', 'none.py', '--out', 'run']) == 2
    assert 'none.py' in capsys.readouterr().err.strip().splitlines()[-1]


def test_an_error_from_a_worker_is_unwrapped(capsys):
    from mmface.utils.command import run_command

    def fail():
        raise DataFormatError('Caught DataFormatError in DataLoader worker process 0.\nOriginal Traceback (most recent call last):\n'
                              '  File "x.py"\nmmface.datasets.formats.errors.DataFormatError: train.rec: record 3: cannot be decoded')

    assert run_command('train', fail) == 2
    assert capsys.readouterr().err == 'train: train.rec: record 3: cannot be decoded\n'


def test_a_users_folder_is_trained_on_and_the_checkpoint_holds_plain_data(photos):
    options = [*SMALL, 'model.head.num_classes=6', 'train_cfg.max_epochs=1', 'param_scheduler.1.end=1', 'model.backbone.width=.125']
    assert tool('train')([CONFIG, '--work-dir', 'run', *options]) == 0
    checkpoint = torch.load(photos / 'run/epoch_1.pth', weights_only=True)
    assert checkpoint['state_dict']['head.weight'].shape == (6, 128)
    assert (photos / 'run/last_checkpoint').read_text() == 'epoch_1.pth'


def test_both_tools_are_run_as_scripts_too():
    import subprocess
    for name in ('train', 'test'):
        done = subprocess.run([sys.executable, ROOT / f'tools/{name}.py', '--help'], capture_output=True, text=True, check=True,
                              env={'PYTHONPATH': str(ROOT), 'PATH': ''})
        assert 'Exit codes' in done.stdout
