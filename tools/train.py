#!/usr/bin/env python
"""Trains the face recognizer of a config."""
import argparse
import os
import sys

from mmengine.config import DictAction

from mmface.apis.command import run_command
from mmface.apis.train import train


def parse_args(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, epilog='Exit codes: 0 trained; 2 bad usage or input.')
    parser.add_argument('config', help='config file')
    parser.add_argument('--work-dir', help='where checkpoints and logs go (default: of the config, else work_dirs/<config>)')
    parser.add_argument('--resume', nargs='?', const='auto', metavar='CHECKPOINT', help='go on from a checkpoint, by default the last one')
    parser.add_argument('--amp', action='store_true', help='automatic mixed precision, bfloat16 unless optim_wrapper.dtype says float16')
    parser.add_argument('--no-validate', dest='validate', action='store_false', help='do not validate during training')
    parser.add_argument('--auto-scale-lr', action='store_true', help='scale the learning rate to the batch size')
    parser.add_argument('--cfg-options', nargs='+', action=DictAction, metavar='KEY=VALUE', help='change the config, as in a.b=1 c="[1,2]"')
    parser.add_argument('--launcher', choices=['none', 'pytorch', 'slurm', 'mpi'], default='none', help='what started this process')
    parser.add_argument('--local_rank', '--local-rank', type=int, default=0, help='given by torch.distributed.launch')
    return parser.parse_args(argv)


def main(argv: list[str] | None = None) -> int:
    args = vars(parse_args(argv))
    os.environ.setdefault('LOCAL_RANK', str(args.pop('local_rank')))
    return run_command('train', lambda: train(args.pop('config'), **args))


if __name__ == '__main__':
    sys.exit(main())
