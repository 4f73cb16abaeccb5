#!/usr/bin/env python
"""Runs the test of a config with the weights of a checkpoint."""
import argparse
import os
import sys

from mmengine.config import DictAction

from mmface.apis.command import run_command
from mmface.apis.run_test import run_test


def parse_args(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, epilog='Exit codes: 0 tested; 2 bad usage or input.')
    parser.add_argument('config', help='config file')
    parser.add_argument('checkpoint', help='checkpoint file')
    parser.add_argument('--work-dir', help='where logs go (default: of the config, else work_dirs/<config>)')
    parser.add_argument('--out', metavar='FILE', help='write the numbers to this .json or .yaml file')
    parser.add_argument('--amp', action='store_true', help='compute embeddings in mixed precision')
    parser.add_argument('--cfg-options', nargs='+', action=DictAction, metavar='KEY=VALUE', help='change the config, as in a.b=1 c="[1,2]"')
    parser.add_argument('--launcher', choices=['none', 'pytorch', 'slurm', 'mpi'], default='none', help='what started this process')
    parser.add_argument('--local_rank', '--local-rank', type=int, default=0, help='given by torch.distributed.launch')
    return parser.parse_args(argv)


def main(argv: list[str] | None = None) -> int:
    args = vars(parse_args(argv))
    os.environ.setdefault('LOCAL_RANK', str(args.pop('local_rank')))
    return run_command('test', lambda: run_test(args.pop('config'), args.pop('checkpoint'), **args))


if __name__ == '__main__':
    sys.exit(main())
