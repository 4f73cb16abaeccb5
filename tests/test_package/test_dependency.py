"""What mmface says when something beside it is missing, too old, too new or there twice."""
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from mmface.utils import dependency


@pytest.fixture(scope='module')
def without_mmcv(tmp_path_factory) -> Path:
    """All that is installed here, less MMCV."""
    folder = tmp_path_factory.mktemp('site')
    for site in (path for path in map(Path, sys.path) if path.name in {'site-packages', 'dist-packages'}):
        for entry in site.iterdir():
            if not entry.name.startswith('mmcv') and entry.suffix != '.pth' and not (folder / entry.name).is_symlink():
                (folder / entry.name).symlink_to(entry)
    return folder


def test_without_mmcv_the_message_is_a_command_to_run(python, without_mmcv):
    done = python('import mmface', '-S', path=[without_mmcv])
    assert done.returncode == 1
    last = done.stderr.splitlines()[-2]
    assert last == ('ImportError: mmface needs MMCV, which is not installed. Run: pip install "mmcv-lite>=2.0.0,<2.4.0"')


@pytest.mark.parametrize('found', ['0.10.7', '0.10.12', '0.11.0rc3'])
def test_versions_inside_the_range_pass(found):
    dependency.require_range('mmengine', found, dependency.MMENGINE, 'pip install x')


@pytest.mark.parametrize('found', ['0.10.6', '1.0.0', '2.1'])
def test_a_version_outside_the_range_is_named_with_the_range_and_the_command(found):
    with pytest.raises(ImportError, match=rf'needs mmengine>=0\.10\.7,<1\.0\.0, but mmengine {found} is installed. Run: pip install x'):
        dependency.require_range('mmengine', found, dependency.MMENGINE, 'pip install x')


def test_a_missing_package_is_named_with_the_command():
    with pytest.raises(ImportError, match=r'mmpretrain>=1\.2\.0,<2\.0\.0, which is not installed. Run: pip install x'):
        dependency.require_range('mmpretrain', None, dependency.MMPRETRAIN, 'pip install x')


def test_the_checked_ranges_are_those_that_are_declared(root):
    declared = (root / 'requirements/runtime.txt').read_text() + (root / 'requirements/lite.txt').read_text()
    for name, (least, below) in (('mmengine', dependency.MMENGINE), ('mmpretrain', dependency.MMPRETRAIN), ('mmcv-lite', dependency.MMCV)):
        assert f'{name}>={least},<{below}\n' in declared


def test_without_onnxruntime_both_commands_are_named(monkeypatch):
    monkeypatch.setattr(dependency, 'find_spec', lambda name: None)
    with pytest.raises(ImportError, match=r'"pip install onnxruntime".*"pip install onnxruntime-gpu"'):
        dependency.import_onnxruntime()


@pytest.mark.skipif(find_spec('onnxruntime') is None, reason='needs ONNX Runtime')
def test_both_onnxruntime_packages_at_once_are_reported(tmp_path, monkeypatch, recwarn):
    assert dependency.import_onnxruntime().__name__ == 'onnxruntime'
    assert not recwarn.list
    for name in ('onnxruntime', 'onnxruntime_gpu'):
        (tmp_path / f'{name}-1.2.3.dist-info').mkdir()
        (tmp_path / f'{name}-1.2.3.dist-info/METADATA').write_text(f'Metadata-Version: 2.1\nName: {name}\nVersion: 1.2.3\n')
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.warns(RuntimeWarning, match='onnxruntime and onnxruntime-gpu are both installed'):
        assert dependency.import_onnxruntime().__name__ == 'onnxruntime'
