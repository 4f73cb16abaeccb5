#!/usr/bin/env python
"""Draws what TrainingCurvesHook recorded of one training or several: P2SGrad (CVPR 2019), Fig. 3, 5 and 9.

A training is a work directory, or its training_curves.jsonl; NAME=PATH gives it a name. Lines are means, bands go from the 5th to the
95th percentile.
"""
import argparse
import json
import sys
from pathlib import Path

from matplotlib.figure import Figure

from mmface.apis.lab import write_curves
from mmface.runtime.hooks.training_curves_hook import NAME
from mmface.utils.command import run_command

#: What is drawn, and how its axis is called.
PANELS = {
    'theta_y': 'angle to the own prototype, degrees',
    'theta_j': 'angle to other prototypes, degrees',
    'probability': 'P of the own class',
    'gradient': 'gradient length |dL/dcos|',
    'feature_norm': 'feature norm',
}


def parse_args(argv: list[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                                     epilog='Exit codes: 0 drawn; 2 bad usage, or a training without records.')
    parser.add_argument('trainings', nargs='+', metavar='[NAME=]PATH', help='work directories or files of records')
    parser.add_argument('--out', type=Path, default=Path('work_dirs/curves'), help='.png, .svg and .csv are added (default: %(default)s)')
    return parser.parse_args(argv)


def read(text: str) -> tuple[str, list[dict]]:
    """Name and records of a training.

    Raises:
        FileNotFoundError: no records there.
        ValueError: a line is none; names it.
    """
    name, _, path = text.rpartition('=')
    file = Path(path) / NAME if Path(path).is_dir() else Path(path)
    if not file.is_file():
        raise FileNotFoundError(f'{file}: there are no records; add custom_hooks=[dict(type="TrainingCurvesHook")] to the config and train')
    records = []
    for number, line in enumerate(file.read_text().splitlines(), 1):
        try:
            record = json.loads(line)
            record['iter'], record['state']
        except (json.JSONDecodeError, KeyError, TypeError) as error:
            raise ValueError(f'{file}, line {number}: not a record of TrainingCurvesHook') from error
        records.append(record)
    if not records:
        raise ValueError(f'{file}: no record in it; was the training shorter than the interval of TrainingCurvesHook?')
    return name or Path(path).name, records


def draw(args: argparse.Namespace) -> None:
    trainings = [read(text) for text in args.trainings]
    figure = Figure(figsize=(13, 7.5), layout='constrained')
    axes = dict(zip([*PANELS, 'state'], figure.subplots(2, 3).flat, strict=True))
    rows: list[tuple] = []
    for number, (name, records) in enumerate(trainings):
        color = f'C{number % 10}'
        for panel in PANELS:
            have = [record for record in records if panel in record]
            if have:
                at, found = [record['iter'] for record in have], [record[panel] for record in have]
                axes[panel].plot(at, [entry['mean'] for entry in found], color=color, label=name)
                axes[panel].fill_between(at, [entry['p5'] for entry in found], [entry['p95'] for entry in found], color=color, alpha=.15)
                rows += [(name, panel, i, kind, value) for i, entry in zip(at, found, strict=True) for kind, value in entry.items()]
        for style, key in zip(('-', '--', ':', '-.') * len(records[0]['state']), records[0]['state'], strict=False):
            axes['state'].plot([r['iter'] for r in records], [r['state'][key] for r in records], style, color=color, label=f'{name}: {key}')
            rows += [(name, 'state', record['iter'], key, record['state'][key]) for record in records]
    for panel, axis in axes.items():
        axis.set(title=PANELS.get(panel, 'state of the loss'), xlabel='iteration')
        axis.grid(alpha=.3)
    axes['theta_y'].legend(fontsize='small')
    if axes['state'].lines:
        axes['state'].legend(fontsize='small')
    for path in write_curves(args.out, figure, ('training', 'quantity', 'iteration', 'kind', 'value'), rows):
        print(path)


def main(argv: list[str] | None = None) -> int:
    """Runs the tool and returns its exit code."""
    args = parse_args(argv)
    return run_command('curves', lambda: draw(args))


if __name__ == '__main__':
    sys.exit(main())
