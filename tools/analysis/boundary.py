#!/usr/bin/env python
"""Where a loss takes a face to be on its own side: decision boundaries between two classes, GB-CosFace (ACCV 2022), Fig. 3 and 5.

Left: in the plane of the two prototypes, --apart degrees from each other, both classes' boundaries; on the right: on the sphere in three
dimensions. Between the two is the margin; where they cross, a feature may lie on both sides. Found by autograd from the registered loss.
"""
import argparse
import math
import sys
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from mmface.apis.lab import LossProbe, boundary_angle, boundary_on_sphere, loss_name, parse_loss, write_curves
from mmface.apis.lab.unit_sphere import draw_unit_sphere
from mmface.utils.command import run_command

LOSSES = (
    'NormFaceLoss',
    'dict(type="CosFaceLoss", m=.3)',
    'dict(type="ArcFaceLoss", m=.5)',
    *(f'dict(type="GBCosFaceLoss", m=.15, alpha={alpha}, state=dict(p_vg=.62))' for alpha in (0., .2, .5, 1.)),
)


def parse_args(argv: list[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                                     epilog='Exit codes: 0 drawn; 2 bad usage, or a loss without boundaries between classes.')
    parser.add_argument('--losses', nargs='+', default=LOSSES, metavar='LOSS',
                        help='e.g. CosFaceLoss or "dict(type=\'GBCosFaceLoss\', state=dict(p_vg=.62))" (default: those of the paper)')
    parser.add_argument('--apart', type=float, default=60., help='degrees between the two prototypes (default: %(default)s)')
    parser.add_argument('--out', type=Path, default=Path('work_dirs/boundary'), help='.png, .svg and .csv are added (default: %(default)s)')
    return parser.parse_args(argv)


def draw(args: argparse.Namespace) -> None:
    if not 0 < args.apart < 180:
        raise ValueError(f'--apart lies in (0, 180), got {args.apart:g}')
    apart = math.radians(args.apart)
    figure = Figure(figsize=(3 * len(args.losses), 7), layout='constrained')
    rows: list[tuple] = []
    for at, text in enumerate(args.losses):
        config = parse_loss(text)
        probe, label = LossProbe(config), loss_name(config)
        theta = boundary_angle(probe, apart)
        plane = figure.add_subplot(2, len(args.losses), at + 1, projection='polar')
        draw_plane(plane, theta, apart)
        plane.set_title(label.replace(' (', '\n('), fontsize='small')
        rows.append((label, 'plane', 1, 0, theta, '', ''))
        sphere = figure.add_subplot(2, len(args.losses), len(args.losses) + at + 1, projection='3d')
        for own, color in ((1, 'C0'), (2, 'C1')):
            for piece, line in enumerate(boundary_on_sphere(probe, apart, own)):
                sphere.plot(*line.T, color=color)
                rows += [(label, 'sphere', own, piece, *point) for point in line.tolist()]
        draw_sphere(sphere, apart)
    for path in write_curves(args.out, figure, ('loss', 'part', 'class', 'piece', 'x_or_theta_rad', 'y', 'z'), rows):
        print(path)


def draw_plane(axis: Any, theta: float, apart: float) -> None:
    """Prototypes as dots, each class's boundary as a ray and its side as a sector."""
    axis.set(thetamin=min(-15, -math.degrees(apart) / 2), thetamax=math.degrees(apart) + 30, yticks=[], rmax=1)
    for prototype, side, color in ((0., theta, 'C0'), (apart, apart - theta, 'C1')):
        axis.plot([prototype], [1], 'o', color=color, clip_on=False)
        if not math.isnan(theta):
            axis.plot([side, side], [0, 1], color=color)
            axis.fill_between(np.linspace(prototype, side, 40), 0, 1, color=color, alpha=.2)


def draw_sphere(axis: Any, apart: float) -> None:
    """The sphere's meridians and the two prototypes."""
    draw_unit_sphere(axis)
    axis.scatter([math.cos(apart / 2)] * 2, [-math.sin(apart / 2), math.sin(apart / 2)], [0, 0], color=['C0', 'C1'])
    axis.view_init(elev=20, azim=0)


def main(argv: list[str] | None = None) -> int:
    """Runs the tool and returns its exit code."""
    args = parse_args(argv)
    return run_command('boundary', lambda: draw(args))


if __name__ == '__main__':
    sys.exit(main())
