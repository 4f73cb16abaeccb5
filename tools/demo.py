#!/usr/bin/env python
"""The main job on procedural faces, which need no download: generate, train, test, export, verify; one table and one picture."""
import argparse
import os
import sys
from pathlib import Path

os.environ.setdefault('OMP_WAIT_POLICY', 'PASSIVE')  # read when torch is imported: waiting threads leave the cores to others

from mmface.apis.command import run_command
from mmface.apis.demo import run_demo
from mmface.apis.demo_report import DemoReport

CONFIG = Path(__file__).resolve().parents[1] / 'configs/demo/arcface_mobilefacenet_procedural.py'


def parse_args(argv: list[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, epilog='Exit codes: 0 all as promised; 1 an accuracy is not what the demo promises; 2 bad usage.')
    parser.add_argument('--out', type=Path, default=Path('work_dirs/demo'), help='folder for everything (default: %(default)s)')
    parser.add_argument('--config', type=Path, default=CONFIG, help='what to train (default: %(default)s)')
    parser.add_argument('--seed', type=int, default=0, help='of the faces and of the training (default: %(default)s)')
    parser.add_argument('--threads', type=int, default=2, help='another number gives slightly other numbers (default: %(default)s)')
    return parser.parse_args(argv)


def main(argv: list[str] | None = None) -> int:
    """Runs the demo and returns its exit code."""
    args = parse_args(argv)
    reports: list[DemoReport] = []
    code = run_command('demo', lambda: reports.append(run_demo(args.config, args.out, seed=args.seed, threads=args.threads, say=print)))
    if code:
        return code
    report = reports[0]
    print(f'\n{report}')
    for problem in report.problems:
        print(f'demo: {problem}', file=sys.stderr)
    return 1 if report.problems else 0


if __name__ == '__main__':
    sys.exit(main())
