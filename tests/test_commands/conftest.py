"""The command in a process of its own."""
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(Path(__file__).parent))  # for documents.py


@pytest.fixture
def environment(tmp_path) -> dict[str, str]:
    """With a program ``mmface`` on the PATH, which is this checkout's."""
    program = tmp_path / 'bin/mmface'
    program.parent.mkdir()
    program.write_text(f'#!{sys.executable}\nimport sys\nfrom mmface.commands.main import main\nsys.exit(main())\n')
    program.chmod(0o755)
    path = os.pathsep.join([str(program.parent), os.environ['PATH']])
    return dict(os.environ, PATH=path, PYTHONPATH=str(ROOT), OMP_NUM_THREADS='1')


@pytest.fixture
def shell(environment, tmp_path) -> Callable[..., subprocess.CompletedProcess]:
    """Runs a line in bash."""

    def run(line: str, program: str = 'bash') -> subprocess.CompletedProcess:
        command = [program, '-c', line]
        return subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=300)

    return run
