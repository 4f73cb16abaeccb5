"""Each mend of ``mmface.utils.compat``: the fault on the stock package, and that it is gone."""
import re
import warnings
from importlib.metadata import PackageNotFoundError
from importlib.util import find_spec
from pathlib import Path

import mmengine
import numpy as np
import pytest
import torch
from mmengine.config import utils as config_utils
from mmengine.logging import HistoryBuffer
from mmengine.runner import CheckpointLoader, checkpoint, runner
from mmengine.utils import digit_version, package_utils

from mmface.utils import compat, compat_checkpoint

MMENGINE_0_10 = digit_version(mmengine.__version__) < digit_version('0.11.0rc1')


@pytest.mark.skipif(not MMENGINE_0_10 or find_spec('pkg_resources') is not None, reason='the fault needs MMEngine 0.10 and setuptools 82')
def test_stock_mmengine_cannot_look_up_a_package_and_importing_mmface_mends_it(python):
    done = python('from mmengine.utils import get_installed_path, is_installed\n'
                  'for f in (is_installed, get_installed_path):\n'
                  '    try: f("numpy")\n'
                  '    except ModuleNotFoundError as error: print(error)\n'
                  'import mmface\n'
                  'import mmengine.config.config as config, mmengine.hub.hub as hub, mmengine.utils as utils\n'
                  'for module in (config, hub, utils): print(module.get_installed_path("numpy"))\n'
                  'print(utils.is_installed("numpy"), utils.is_installed("no-such-package"))')
    assert done.returncode == 0, done.stderr
    folder = str(Path(np.__file__).parent)
    assert done.stdout.splitlines() == ["No module named 'pkg_resources'"] * 2 + [folder] * 3 + ['True False']


@pytest.mark.skipif(MMENGINE_0_10, reason='mended in MMEngine 0.11')
def test_where_mmengine_looks_up_packages_itself_it_is_left_alone():
    assert package_utils.is_installed.__module__ == 'mmengine.utils.package_utils'


def test_a_distribution_of_another_name_is_found_by_what_it_brings():
    assert compat.package2module('numpy') == 'numpy'
    assert compat.package2module('opencv-python') == 'cv2'
    assert Path(compat.get_installed_path('opencv-python'), '__init__.py').is_file()
    assert compat.is_installed('opencv-python')


def test_a_package_without_one_folder_is_refused_with_its_name(tmp_path, monkeypatch):
    (tmp_path / 'only_a_namespace').mkdir()
    (tmp_path / 'unnamed-1.0.dist-info').mkdir()
    (tmp_path / 'unnamed-1.0.dist-info/METADATA').write_text('Metadata-Version: 2.1\nName: unnamed\nVersion: 1.0\n')
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(PackageNotFoundError, match='no-such-package'):
        compat.get_installed_path('no-such-package')
    with pytest.raises(RuntimeError, match='only_a_namespace is a namespace package'):
        compat.get_installed_path('only_a_namespace')
    with pytest.raises(ValueError, match=r'module name of unnamed: it has no top_level\.txt'):
        compat.package2module('unnamed')


def test_a_config_of_ours_can_be_named_from_elsewhere(monkeypatch):
    monkeypatch.delitem(config_utils.MODULE2PACKAGE, 'mmface')
    with pytest.raises(AssertionError, match='does not support to load mmface config'):
        config_utils._get_package_and_cfg_path('mmface::arcface/x.py')
    compat.apply()
    assert config_utils._get_package_and_cfg_path('mmface::arcface/x.py') == ('mmface', 'arcface/x.py')


def test_transformers_5_with_pycocotools_breaks_stock_mmpretrain_and_not_ours(python, tmp_path):
    factory = tmp_path / 'transformers/models/auto'
    factory.mkdir(parents=True)
    (factory / 'auto_factory.py').write_text('class _BaseAutoModelClass: from_pretrained = from_config = None\n')
    # any public class is there, the helpers in modeling_utils are gone
    (tmp_path / 'transformers/__init__.py').write_text('from .models.auto.auto_factory import _BaseAutoModelClass\n'
                                                       'def __getattr__(name):\n'
                                                       '    if name[0] == "_": raise AttributeError(name)\n'
                                                       '    return type(name, (_BaseAutoModelClass, ), {})\n')
    for name, version in (('transformers', '5.24.0'), ('pycocotools', '2.0.9')):
        (tmp_path / f'{name}-{version}.dist-info').mkdir()
        (tmp_path / f'{name}-{version}.dist-info/METADATA').write_text(f'Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n')
    stock = python('import mmpretrain.models', path=[tmp_path])
    assert stock.stderr.splitlines()[-1] == 'TypeError: NoneType takes no arguments'
    mended = python('import mmface, mmpretrain.models', path=[tmp_path])
    assert mended.returncode == 0, mended.stderr


def test_a_relative_last_checkpoint_is_looked_for_beside_the_pointer(tmp_path):
    (tmp_path / 'last_checkpoint').write_text('epoch_3.pth')
    assert compat_checkpoint.stock_find_latest_checkpoint(str(tmp_path)) == 'epoch_3.pth'  # resumes only from inside the work folder
    for module in (runner, checkpoint, mmengine.runner):
        assert module.find_latest_checkpoint(str(tmp_path)) == str(tmp_path / 'epoch_3.pth')


@pytest.mark.parametrize('order', ['import mmface, mmengine.runner as r', 'import mmengine.runner as r, mmface'])
def test_checkpoints_are_mended_whether_mmface_comes_before_or_after(python, order):
    done = python(f'{order}\nprint(r.find_latest_checkpoint.__module__, r.runner.find_latest_checkpoint.__module__, '
                  'r.CheckpointLoader._schemes[""].__module__)')
    assert done.stdout.split() == ['mmface.utils.compat_checkpoint'] * 3, done.stderr


def test_an_absolute_last_checkpoint_and_none_are_as_before(tmp_path):
    assert runner.find_latest_checkpoint(str(tmp_path)) is None
    (tmp_path / 'last_checkpoint').write_text('/elsewhere/epoch_3.pth\n')
    assert runner.find_latest_checkpoint(str(tmp_path)) == '/elsewhere/epoch_3.pth'


def test_a_local_checkpoint_is_read_without_unpickling_objects(tmp_path):
    plain = {'state_dict': {'weight': torch.arange(3.)}, 'meta': {'epoch': 2, 'losses': [1.5, 1.25]}}
    torch.save(plain, tmp_path / 'plain.pth')
    read = CheckpointLoader.load_checkpoint(str(tmp_path / 'plain.pth'), 'cpu')
    assert read['meta'] == plain['meta']
    assert torch.equal(read['state_dict']['weight'], plain['state_dict']['weight'])

    torch.save({'message_hub': HistoryBuffer([1.], [1])}, tmp_path / 'object.pth')
    if not MMENGINE_0_10:  # the fault: an object runs its own code
        assert isinstance(checkpoint.load_from_local(str(tmp_path / 'object.pth'), 'cpu')['message_hub'], HistoryBuffer)
    with pytest.raises(ValueError, match=r'object\.pth.*could run any code'):
        CheckpointLoader.load_checkpoint(str(tmp_path / 'object.pth'), 'cpu')


def test_a_missing_local_checkpoint_is_named():
    with pytest.raises(FileNotFoundError, match=r'no/such\.pth'):
        CheckpointLoader.load_checkpoint('no/such.pth')


def test_the_complaint_of_mmcv_lite_is_heard_from_stock_packages_and_not_from_ours(python):
    pytest.importorskip('mmcv')
    if find_spec('mmcv._ext') is not None:
        pytest.skip('this MMCV is a full one')
    assert 'Fail to import ``MultiScaleDeformableAttention``' in python('import mmcv.cnn.bricks.transformer').stderr
    assert python('import mmface, mmcv.cnn.bricks.transformer').stderr == ''


def test_only_the_listed_messages_are_silenced():
    with warnings.catch_warnings(record=True) as heard:
        warnings.resetwarnings()
        compat.apply()
        for message, category in compat.UPSTREAM_NOISE:
            warnings.warn(message + ' and more', category, stacklevel=1)
        warnings.warn('something else', UserWarning, stacklevel=1)
    assert [str(w.message) for w in heard] == ['something else']


def test_applying_twice_changes_nothing():
    before = runner.find_latest_checkpoint, package_utils.is_installed, len(warnings.filters)
    compat.apply()
    compat.apply()
    after = runner.find_latest_checkpoint, package_utils.is_installed, len(warnings.filters)
    assert after[:2] == before[:2]
    assert after[2] <= before[2] + len(compat.UPSTREAM_NOISE)  # pytest starts each test with its own filters


def test_pytest_ignores_the_same_messages(root):
    ours = (root / 'pyproject.toml').read_text().replace('\\\\', '')
    for message, category in compat.UPSTREAM_NOISE:
        assert re.search(rf'"ignore:{re.escape(message)}:{category.__name__}"', ours)
