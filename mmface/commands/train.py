"""Trains the face recognizer of a config."""
import argparse
import os

from .arguments import add_config_argument, add_launcher_arguments
from .configs import find_config


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command line."""
    parser.epilog = 'Exit codes: 0 trained; 2 bad usage or input.'
    add_config_argument(parser)
    parser.add_argument('--work-dir', help='where checkpoints and logs go (default: of the config, else work_dirs/<config>)')
    parser.add_argument('--resume', nargs='?', const='auto', metavar='CHECKPOINT', help='go on from a checkpoint, by default the last one')
    parser.add_argument('--amp', action='store_true', help='automatic mixed precision, bfloat16 unless optim_wrapper.dtype says float16')
    parser.add_argument('--no-validate', dest='validate', action='store_false', help='do not validate during training')
    parser.add_argument('--auto-scale-lr', action='store_true', help='scale the learning rate to the batch size')
    add_launcher_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Trains."""
    os.environ.setdefault('LOCAL_RANK', str(args.local_rank))
    from mmface.apis.train import train
    from mmface.utils.dist import leave_group
    train(find_config(args.config), work_dir=args.work_dir, resume=args.resume, amp=args.amp, validate=args.validate,
          auto_scale_lr=args.auto_scale_lr, cfg_options=args.cfg_options, launcher=args.launcher)  # yapf: disable
    leave_group()
    return 0
