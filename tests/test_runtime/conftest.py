import sys
from pathlib import Path

import pytest
import torch
from mmengine.config import Config

sys.path.insert(0, str(Path(__file__).parent))  # toy_training is imported here and run as a program


@pytest.fixture(scope='module', autouse=True)
def _one_thread():
    """Runs are compared bit for bit, also with those of forked processes, in which OpenMP's threads do not survive."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(scope='module', autouse=True)
def _config_text():
    """MMEngine formats the config for every checkpoint, which takes half of the time of these tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Config, 'pretty_text', property(lambda config: f'work_dir = {config.work_dir!r}\n'))
        yield
