"""Starts a module of this folder as the ranks of a training."""
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]


def environment(**variables):
    return {**os.environ, 'PYTHONPATH': str(ROOT), 'OMP_NUM_THREADS': '1', **variables}


def run_ranks(module, world, *arguments, timeout=300, **variables):
    """``python MODULE RANK WORLD *ARGUMENTS`` for each rank; exit codes and standard errors. No process outlives this."""
    commands = [[sys.executable, str(HERE / f'{module}.py'), str(rank), str(world), *map(str, arguments)] for rank in range(world)]
    logs = [error_log() for _ in commands]
    env = environment(**variables)
    started = [subprocess.Popen(c, env=env, stdout=subprocess.DEVNULL, stderr=log) for c, log in zip(commands, logs, strict=True)]
    try:
        for process in started:
            process.wait(timeout=timeout)
    except subprocess.TimeoutExpired as error:
        alive = [rank for rank, process in enumerate(started) if process.poll() is None]
        raise AssertionError(f'ranks {alive} of {module} have not ended in {timeout} s') from error
    finally:
        for process in started:
            process.kill()
    return [process.returncode for process in started], [read_log(log) for log in logs]


def error_log():
    """For the standard error of one of several processes: a pipe that is full would stop it while another's is read."""
    return tempfile.TemporaryFile('w+')


def read_log(log):
    log.seek(0)
    return log.read()
