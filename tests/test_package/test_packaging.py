"""What is built: a wheel with ``.mim``, an sdist that builds the same wheel, an editable install with links."""
import email
import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest


def build(kind: str, source: Path, out: Path) -> Path:
    """Calls the build backend's hook ``build_KIND`` in ``source``, as pip does, and returns the file it makes in ``out``."""
    out.mkdir(parents=True, exist_ok=True)
    code = f'import setuptools.build_meta as b; print("made:" + b.build_{kind}({str(out)!r}))'
    done = subprocess.run([sys.executable, '-c', code], cwd=source, check=False, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return out / done.stdout.rpartition('made:')[2].strip()


@pytest.fixture(scope='module')
def source(root, files, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp('source')
    for file in files:
        (folder / file.relative_to(root)).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, folder / file.relative_to(root))
    return folder


@pytest.fixture(scope='module')
def sdist(source, tmp_path_factory) -> Path:
    return build('sdist', source, tmp_path_factory.mktemp('sdist'))


@pytest.fixture(scope='module')
def wheel(sdist, tmp_path_factory) -> Path:
    """Built from the sdist, so that nothing is missing in either."""
    folder = tmp_path_factory.mktemp('unpacked')
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, filter='data')
    (unpacked, ) = folder.iterdir()
    return build('wheel', unpacked, tmp_path_factory.mktemp('wheel'))


def expected(root: Path, files: list[Path]) -> set[str]:
    """The package, and in its folder ``.mim`` the configs, the tools and the model index."""
    names = {str(file.relative_to(root)) for file in files}
    wanted = {name for name in names if name.startswith('mmface/')}
    return wanted | {f'mmface/.mim/{name}' for name in names if name == 'model-index.yml' or name.startswith(('configs/', 'tools/'))}


def test_the_wheel_holds_the_package_its_configs_and_its_tools_and_nothing_else(root, files, wheel):
    held = {name for name in zipfile.ZipFile(wheel).namelist() if '.dist-info/' not in name}
    assert held == expected(root, files)


def test_the_wheel_is_pure_and_states_its_needs(root, wheel):
    assert wheel.name.endswith('-py3-none-any.whl')
    archive = zipfile.ZipFile(wheel)
    (name, ) = (name for name in archive.namelist() if name.endswith('.dist-info/METADATA'))
    metadata = email.message_from_bytes(archive.read(name))
    assert metadata['Name'] == 'mmface'
    assert set(metadata['Requires-Python'].split(',')) == {'>=3.10', '<3.14'}
    assert metadata['License-Expression'] == 'Apache-2.0'
    assert not [line for line in metadata.get_all('Classifier') if line.startswith('License')]
    assert {'all', 'cpu', 'gpu', 'lite', 'mim', 'tests'} <= set(metadata.get_all('Provides-Extra'))
    plain = {re.match(r'[\w-]+', line).group() for line in metadata.get_all('Requires-Dist') if 'extra ==' not in line}
    assert {'torch', 'torchvision', 'mmengine', 'mmpretrain', 'onnx'} <= plain
    assert not plain & {'mmcv', 'mmcv-lite', 'onnxruntime', 'onnxruntime-gpu'}
    assert any(name.endswith('/licenses/LICENSE') for name in archive.namelist())


def test_the_wheel_brings_the_command(wheel):
    archive = zipfile.ZipFile(wheel)
    (name, ) = (name for name in archive.namelist() if name.endswith('.dist-info/entry_points.txt'))
    assert archive.read(name).decode().split() == ['[console_scripts]', 'mmface', '=', 'mmface.commands.main:main']


SMALL_DEMO = """
import functools, sys, mmface
from mmface.apis import demo
from mmface.commands.main import main
from mmface.datasets.procedural import SetSizes
sizes = SetSizes(people=6, pictures=4, test_people=32, test_pictures=4, folds=2, pairs=240)
demo.run_demo = functools.partial(demo.run_demo, sizes=sizes, cfg_options={'train_cfg.max_epochs': 1, 'train_dataloader.batch_size': 8})
print(mmface.__file__)
sys.exit(main(['demo', '--threads', '1']))
"""


@pytest.mark.slow
def test_the_demo_of_the_wheel_runs_in_an_empty_folder(wheel, tmp_path):
    zipfile.ZipFile(wheel).extractall(tmp_path / 'site')
    (tmp_path / 'empty').mkdir()
    env = dict(os.environ, PYTHONPATH=str(tmp_path / 'site'), OMP_NUM_THREADS='1')
    done = subprocess.run([sys.executable, '-c', SMALL_DEMO], cwd=tmp_path / 'empty', env=env, check=False, capture_output=True, text=True,
                          timeout=300)  # yapf: disable
    assert done.stdout.splitlines()[0] == str(tmp_path / 'site/mmface/__init__.py')
    assert done.returncode == 1, done.stderr  # so little data teaches nothing, which is a promise not kept
    assert {'data', 'train', 'procedural.onnx', 'demo.png', 'results.json'} <= {
        file.name for file in (tmp_path / 'empty/work_dirs/demo').iterdir()}


def test_the_sdist_holds_every_file_that_a_build_needs(root, files, sdist):
    with tarfile.open(sdist) as archive:
        held = {name.partition('/')[2] for name in archive.getnames()}
    needed = {str(file.relative_to(root)) for file in files}
    needed = {name for name in needed if name.startswith(('mmface/', 'configs/', 'tools/', 'requirements/'))}
    assert needed | {'setup.py', 'pyproject.toml', 'LICENSE', 'README.md', 'model-index.yml'} <= held
    assert not [name for name in held if '/.mim/' in name or '__pycache__' in name]


def test_an_editable_install_links_to_the_checkout(source):
    build('editable', source, source.parent / 'editable')
    for name in ('configs', 'model-index.yml', 'tools'):
        link = source / 'mmface/.mim' / name
        assert link.is_symlink()
        assert not os.path.isabs(os.readlink(link))
        assert link.resolve() == (source / name).resolve()


def test_configs_of_the_installed_package_are_found_by_name(root, wheel, python, tmp_path):
    configs = sorted(file for file in (root / 'configs').rglob('*.py') if '_base_' not in file.parts)
    if not configs:
        pytest.skip('there is no config yet')
    zipfile.ZipFile(wheel).extractall(tmp_path)
    name = configs[0].relative_to(root / 'configs')
    done = python(
        f'import mmface; from mmengine.hub import get_config; print(mmface.__file__); print(get_config("mmface::{name}").filename)',
        path=[tmp_path])
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-2:] == [str(tmp_path / 'mmface/__init__.py'), str(tmp_path / 'mmface/.mim/configs' / name)]
