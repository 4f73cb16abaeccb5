"""``mim download mmface --config NAME`` on an installed package, with openmim's own code, against a server on this machine.

openmim pins old versions of packages that others need, so it lives in an environment of its own. ``MMFACE_MIM_PYTHON`` names that
environment's interpreter; it needs openmim, setuptools below 82, and mmface's dependencies.
"""
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from mmface.zoo import fetch_weights

ROOT = Path(__file__).resolve().parents[2]
NAME = 'arcface_mobilefacenet_procedural'
PYTHON = os.getenv('MMFACE_MIM_PYTHON', sys.executable)
BUILD = 'import sys, setuptools.build_meta as b; b.build_wheel(sys.argv[1])'
DOWNLOAD = 'import sys; from mim.commands.download import download; print(download("mmface", [sys.argv[1]], sys.argv[2]))'
SEARCH = 'from mim.commands.search import get_model_info; print(len(get_model_info("mmface")))'


def run(python, *arguments, **options):
    done = subprocess.run([python, *arguments], check=False, capture_output=True, text=True, timeout=300, **options)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope='module')
def installed(tmp_path_factory):
    """A folder on the module path in which mmface is installed from its wheel."""
    if subprocess.run([PYTHON, '-c', 'import mim, pkg_resources'], check=False, capture_output=True, timeout=300).returncode:
        pytest.skip(f'openmim does not run in {PYTHON}; MMFACE_MIM_PYTHON may name the interpreter of an environment that has it')
    folder = tmp_path_factory.mktemp('mim')
    ignored = shutil.ignore_patterns('.git', '.venv*', '.mim', '__pycache__', '*.egg-info', 'work_dirs', 'build', '.*_cache')
    shutil.copytree(ROOT, folder / 'source', ignore=ignored)
    run(sys.executable, '-c', BUILD, str(folder), cwd=folder / 'source')
    (wheel, ) = folder.glob('*.whl')
    zipfile.ZipFile(wheel).extractall(folder / 'site')
    return folder / 'site'


@pytest.mark.slow
def test_mim_fetches_weights_and_config_of_an_installed_package(installed, index, server, tmp_path):
    shipped = index.find(NAME)
    server.body = fetch_weights(shipped).read_bytes()
    metafile = installed / 'mmface/.mim/configs/demo/metafile.yml'
    metafile.write_text(metafile.read_text().replace(f'Weights: {shipped.weights}', f'Weights: {server.url(name=f"{NAME}.safetensors")}'))
    environment = dict(os.environ, PYTHONPATH=str(installed), no_proxy='*')
    said = run(PYTHON, '-c', DOWNLOAD, NAME, str(tmp_path / 'out'), env=environment, cwd=tmp_path)
    assert f"['{NAME}.safetensors']" in said
    assert (tmp_path / f'out/{NAME}.safetensors').read_bytes() == server.body
    assert f'max_epochs={shipped.metadata["Epochs"]}' in (tmp_path / f'out/{NAME}.py').read_text()
    assert len(server.requests) == 1
    listed = run(PYTHON, '-c', SEARCH, env=environment, cwd=tmp_path)
    assert int(listed.splitlines()[-1]) == len(index.entries)
