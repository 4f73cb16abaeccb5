#!/usr/bin/env python
"""How hard a loss pulls, by autograd from the loss itself: P2SGrad (CVPR 2019), Fig. 7 and 8; AdaFace (CVPR 2022), Fig. 1 and 3.

Two prototypes stand --apart degrees from each other, and the feature lies between them. Left: the slope f' of the target's logit in the
cosine (losses without softmax have none). Right: the length |dL/dcos| against the angle to the own prototype. Below: the same over angle
and feature norm, as a slice of the sphere: what AdaFace calls the gradient scaling term.
"""
import argparse
import math
import sys
from pathlib import Path

import torch
from matplotlib.figure import Figure

from mmface.apis.lab import LossProbe, loss_name, parse_loss, write_curves
from mmface.utils.command import run_command

#: AdaFace's statistics make its z run from -1 to 1 over norms from 10 to 100.
LOSSES = (
    'dict(type="NormFaceLoss", s=64.)',
    'dict(type="CosFaceLoss", m=.4)',
    'dict(type="ArcFaceLoss", m=.5)',
    'dict(type="MagFaceLoss", lambda_g=0.)',
    'dict(type="CurricularFaceLoss", state=dict(t=.5))',
    'dict(type="AdaFaceLoss", m=.4, h=.333, state=dict(norm_mean=55., norm_std=15.))',
    'dict(type="GBCosFaceLoss", state=dict(p_vg=.62))',
    'P2SGradLoss',
)


def parse_args(argv: list[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                                     epilog='Exit codes: 0 drawn; 2 bad usage.')
    parser.add_argument('--losses', nargs='+', default=LOSSES, metavar='LOSS',
                        help='e.g. CosFaceLoss or "dict(type=\'AdaFaceLoss\', norm=40.)" (default: as in the papers)')
    parser.add_argument('--apart', type=float, default=90., help='degrees between the two prototypes (default: %(default)s)')
    parser.add_argument('--norms', type=float, nargs=2, default=[10, 110], metavar=('LOW', 'HIGH'), help='of the slice (default: 10 110)')
    parser.add_argument('--out', type=Path, default=Path('work_dirs/gradient'), help='.png, .svg and .csv are added (default: %(default)s)')
    return parser.parse_args(argv)


def draw(args: argparse.Namespace) -> None:
    if not 0 < args.apart <= 180:
        raise ValueError(f'--apart lies in (0, 180], got {args.apart:g}')
    apart = math.radians(args.apart)
    angle = torch.linspace(0, apart, 241, dtype=torch.float64)[1:]
    low, high = args.norms
    norms = torch.linspace(low, high, 41, dtype=torch.float64)
    figure = Figure(figsize=(3.4 * max(4, math.ceil(len(args.losses) / 2)), 13), layout='constrained')
    above, below = figure.subfigures(2, 1, height_ratios=(2, 3))
    slopes, lengths = above.subplots(1, 2)
    slices = below.subplots(2, math.ceil(len(args.losses) / 2), subplot_kw=dict(projection='polar'), squeeze=False).flat
    rows: list[tuple] = []
    for text, slice_axis in zip(args.losses, slices, strict=False):
        config = parse_loss(text)
        probe, label = LossProbe(config), loss_name(config)
        between = (apart - angle).cos().unsqueeze(1)
        curve = probe(angle.cos(), between)
        slopes.plot(angle.rad2deg(), curve.slope, label=label)
        lengths.plot(angle.rad2deg(), curve.scaling.abs())
        rows += [(label, probe.norm, *values) for values in zip(*(v.tolist() for v in (angle, curve.slope, curve.scaling)), strict=True)]
        grid = probe(angle.cos().repeat(len(norms)), between.repeat(len(norms), 1), norm=norms.repeat_interleave(len(angle)))
        scaling = grid.scaling.view(len(norms), len(angle))
        mesh = slice_axis.pcolormesh(angle, norms, scaling.abs(), rasterized=True)
        slice_axis.set(title=label, thetamin=0, thetamax=args.apart, rmin=0, rmax=high)
        slice_axis.title.set_fontsize('small')
        below.colorbar(mesh, ax=slice_axis, shrink=.5)
        rows += [(label, norm, theta, math.nan, value) for norm, line in zip(norms.tolist(), scaling.tolist(), strict=True)
                 for theta, value in zip(angle.tolist(), line, strict=True)]  # yapf: disable
    for axis in list(slices)[len(args.losses):]:
        axis.remove()
    slopes.set(title="slope f' of the logit", ylim=(0, min(slopes.get_ylim()[1], 200)))
    lengths.set(title='gradient length |dL/dcos|', yscale='symlog', ylim=(0, None))
    for axis in (slopes, lengths):
        axis.set(xlabel='angle to the own prototype in degrees')
        axis.grid(alpha=.3)
    below.suptitle('|dL/dcos| over angle and feature norm; the own prototype lies at 0 degrees')
    above.legend(loc='outside right upper', fontsize='small')
    for path in write_curves(args.out, figure, ('loss', 'norm', 'theta_rad', 'slope', 'scaling'), rows):
        print(path)


def main(argv: list[str] | None = None) -> int:
    """Runs the tool and returns its exit code."""
    args = parse_args(argv)
    return run_command('gradient', lambda: draw(args))


if __name__ == '__main__':
    sys.exit(main())
