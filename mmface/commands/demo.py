"""The main job on procedural faces, which need no download: generate, train, test, export, verify; one table and one picture."""
import argparse
import os
import sys
from pathlib import Path

from .completers import complete_config
from .configs import find_config


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command line."""
    parser.epilog = 'Exit codes: 0 all as promised; 1 an accuracy is not what the demo promises; 2 bad usage.'
    parser.add_argument('--out', type=Path, default=Path('work_dirs/demo'), help='folder for everything (default: %(default)s)')
    config = parser.add_argument('--config', default='arcface_mobilefacenet_procedural', help='what to train (default: %(default)s)')
    config.completer = complete_config  # type: ignore[attr-defined]
    parser.add_argument('--seed', type=int, default=0, help='of the faces and of the training (default: %(default)s)')
    parser.add_argument('--threads', type=int, default=2, help='another number gives slightly other numbers (default: %(default)s)')


def run(args: argparse.Namespace) -> int:
    """Runs the demo."""
    os.environ.setdefault('OMP_WAIT_POLICY', 'PASSIVE')  # read when torch is imported: waiting threads leave the cores to others
    from mmface.apis import demo
    report = demo.run_demo(find_config(args.config), args.out, seed=args.seed, threads=args.threads, say=print)
    print(f'\n{report}')
    for problem in report.problems:
        print(f'demo: {problem}', file=sys.stderr)
    return 1 if report.problems else 0
