#!/usr/bin/env python
"""Ten people on a sphere: GB-CosFace's toy experiment (ACCV 2022, Fig. 6), for any loss.

A seven-layer network with three numbers as embedding learns procedural faces of --people people; each loss starts from the same weights and
sees the same batches. Drawn are the training images' embeddings and the prototypes, and counted: how many are nearest to their own
prototype, mean angle to it, smallest angle between two prototypes, and the equal error rate of all pairs at one threshold, which is what a
test asks. It shows what a loss tends to; it is no comparison.
"""
import argparse
import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from mmface.apis.lab import loss_name, parse_loss, write_curves
from mmface.apis.lab.sphere_experiment import SphereResult, draw_people, train_on_sphere
from mmface.apis.lab.unit_sphere import draw_unit_sphere
from mmface.utils.command import run_command

LOSSES = tuple(f'dict(type="GBCosFaceLoss", m=.15, alpha={alpha})' for alpha in (0., .2, .4, .6, .8, 1.))


def parse_args(argv: list[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                                     epilog='Exit codes: 0 drawn; 2 bad usage.')
    parser.add_argument('--losses', nargs='+', default=LOSSES, metavar='LOSS',
                        help='e.g. CosFaceLoss or "dict(type=\'ArcFaceLoss\', m=.3)" (default: GB-CosFace, alpha from 0 to 1)')
    parser.add_argument('--people', type=int, default=10, help='(default: %(default)s)')
    parser.add_argument('--pictures', type=int, default=60, help='of each (default: %(default)s)')
    parser.add_argument('--steps', type=int, default=600, help='of 64 images (default: %(default)s)')
    parser.add_argument('--seed', type=int, default=0, help='of people, weights and batches (default: %(default)s)')
    parser.add_argument('--out', type=Path, default=Path('work_dirs/sphere'), help='.png, .svg and .csv are added (default: %(default)s)')
    return parser.parse_args(argv)


def draw(args: argparse.Namespace) -> None:
    if args.people < 2 or args.pictures < 2 or args.steps < 1:
        raise ValueError('it takes at least 2 people with 2 pictures each, and a step')
    images, labels = draw_people(args.people, args.pictures, args.seed)
    columns = min(3, len(args.losses))
    figure = Figure(figsize=(5 * columns, 5 * -(-len(args.losses) // columns)), layout='constrained')
    rows: list[tuple] = []
    print('| loss | nearest is own | angle to own | smallest angle between | equal error rate |\n|---|---:|---:|---:|---:|')
    for at, text in enumerate(args.losses):
        config = parse_loss(text)
        result = train_on_sphere(config, images, labels, steps=args.steps, seed=args.seed)
        label = loss_name(config)
        numbers = f'{result.accuracy:.1%} | {result.own_angle:.1f} | {result.separation:.1f} | {result.equal_error:.2%}'
        print(f'| {label} | {numbers} |', flush=True)
        axis = figure.add_subplot(-(-len(args.losses) // columns), columns, at + 1, projection='3d')
        draw_sphere(axis, result)
        axis.set_title(label, fontsize='small')
        rows += [(label, 'embedding', person, *point) for person, point in zip(labels.tolist(), result.embeddings.tolist(), strict=True)]
        rows += [(label, 'prototype', person, *point) for person, point in enumerate(result.prototypes.tolist())]
    for path in write_curves(args.out, figure, ('loss', 'what', 'person', 'x', 'y', 'z'), rows):
        print(path)


def draw_sphere(axis, result: SphereResult) -> None:
    """Embeddings as dots, prototypes as lines from the centre."""
    draw_unit_sphere(axis)
    axis.scatter(*result.embeddings.T, c=result.labels, cmap='tab10', s=4)
    for person, prototype in enumerate(result.prototypes):
        axis.plot(*np.stack([np.zeros(3), prototype * 1.1]).T, color=f'C{person % 10}')


def main(argv: list[str] | None = None) -> int:
    """Runs the tool and returns its exit code."""
    args = parse_args(argv)
    return run_command('sphere', lambda: draw(args))


if __name__ == '__main__':
    sys.exit(main())
