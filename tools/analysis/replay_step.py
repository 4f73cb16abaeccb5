#!/usr/bin/env python
"""Takes a training step again whose gradients were not finite, and names where that begins: forward or backward, in which layer."""
import argparse
import sys
from pathlib import Path

from mmengine.config import Config
from mmengine.registry import init_default_scope

from mmface.registry import MODELS
from mmface.runtime.diagnosis.step_dump import replay_step
from mmface.utils.command import run_command
from mmface.utils.dict_action import DictAction

SHOWN = 10


def parse_args(argv: list[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, epilog='Exit codes: 0 the step was taken again; 2 bad usage or input.')
    parser.add_argument('config', help='of the training')
    parser.add_argument('dump', type=Path, help='nonfinite_iter_*.pth, which TrainingDiagnosisHook wrote into the work directory')
    parser.add_argument('--cfg-options', nargs='+', action=DictAction, metavar='KEY=VALUE', help='as they were given to the training')
    return parser.parse_args(argv)


def replay(args: argparse.Namespace) -> None:
    config = Config.fromfile(args.config)
    config.merge_from_dict(args.cfg_options or {})
    init_default_scope(config.get('default_scope', 'mmface'))
    loss, found = replay_step(MODELS.build(config.model), args.dump)
    print(f'loss        {loss:.6g}')
    for line in found[:SHOWN]:
        print(f'not finite  {line}')
    if len(found) > SHOWN:
        print(f'            and {len(found) - SHOWN} more')
    if not found:
        print('all finite: on this device and in full precision the step is sound; was it taken in reduced precision?')


def main(argv: list[str] | None = None) -> int:
    """Runs the tool and returns its exit code."""
    args = parse_args(argv)
    return run_command('replay_step', lambda: replay(args))


if __name__ == '__main__':
    sys.exit(main())
