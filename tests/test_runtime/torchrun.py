"""Starts a script of this folder as the ranks of one training."""
import json
import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent


def torchrun(script, ranks, runs):
    """``script RUNS`` on so many ranks, RUNS as JSON; exit code and standard error."""
    rendezvous = ['--rdzv-backend=c10d', '--rdzv-endpoint=localhost:0']  # at a free port
    launcher = [sys.executable, '-m', 'torch.distributed.run', f'--nproc-per-node={ranks}', *rendezvous]
    command = [*launcher, str(HERE / script), json.dumps(runs)]
    environment = {**os.environ, 'PYTHONPATH': str(HERE.parents[1]), 'OMP_NUM_THREADS': '1'}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)
    return done.returncode, done.stderr
