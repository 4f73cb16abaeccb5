"""Runs the test of a config with the weights of a checkpoint."""
import argparse
import os

from .arguments import add_config_argument, add_launcher_arguments
from .configs import find_config


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command line."""
    parser.epilog = 'Exit codes: 0 tested; 2 bad usage or input.'
    add_config_argument(parser)
    parser.add_argument('checkpoint', help='checkpoint file')
    parser.add_argument('--work-dir', help='where logs go (default: of the config, else work_dirs/<config>)')
    parser.add_argument('--out', metavar='FILE', help='write the numbers to this .json or .yaml file')
    parser.add_argument('--amp', action='store_true', help='compute embeddings in mixed precision')
    add_launcher_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Tests."""
    os.environ.setdefault('LOCAL_RANK', str(args.local_rank))
    from mmface.apis.run_test import run_test
    from mmface.utils.dist import leave_group
    run_test(find_config(args.config), args.checkpoint, work_dir=args.work_dir, out=args.out, amp=args.amp, cfg_options=args.cfg_options,
             launcher=args.launcher)  # yapf: disable
    leave_group()
    return 0
