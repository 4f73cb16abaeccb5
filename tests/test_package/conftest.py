"""What the tests of the package as a whole share: the checkout, its files, and a fresh interpreter."""
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope='session')
def root() -> Path:
    """The checkout."""
    return ROOT


@pytest.fixture(scope='session')
def files() -> list[Path]:
    """Every file of the project: those under version control and new ones, not what .gitignore names."""
    command = ['git', 'ls-files', '-z', '--cached', '--others', '--exclude-standard']
    try:
        listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    except (OSError, subprocess.CalledProcessError):
        pytest.skip('which files belong to the project is known only in a git checkout')
    return [ROOT / name for name in sorted(set(listed.split('\0'))) if name and (ROOT / name).is_file()]


@pytest.fixture(scope='session')
def python() -> Callable[..., subprocess.CompletedProcess]:
    """Runs code in a fresh interpreter: ``python(code, *flags, path=[before the checkout on sys.path])``."""

    def run(code: str, *flags: str, path: list[Path] | None = None) -> subprocess.CompletedProcess:
        env = dict(os.environ, PYTHONPATH=os.pathsep.join(map(str, [*(path or []), ROOT])), OMP_NUM_THREADS='1')
        env.pop('PYTHONWARNINGS', None)
        command = [sys.executable, *flags, '-c', code]
        return subprocess.run(command, cwd=ROOT / 'tests', env=env, check=False, capture_output=True, text=True, timeout=300)

    return run
