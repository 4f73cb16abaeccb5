#!/usr/bin/env python
"""How sure a softmax loss is at which angle: P of the own class against theta, all other classes being at 90 degrees.

Three pictures in one, after P2SGrad (CVPR 2019), Fig. 4 to 6: with other scales s, other margins m, other numbers of classes C.
"""
import argparse
import inspect
import math
import sys
from pathlib import Path

import torch
from matplotlib.figure import Figure

from mmface.apis.lab import LossProbe, parse_loss, write_curves
from mmface.registry import MODELS
from mmface.utils.command import run_command


def parse_args(argv: list[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                                     epilog='Exit codes: 0 drawn; 2 bad usage, or a loss that is no softmax.')
    parser.add_argument('--losses', nargs='+', default=['ArcFaceLoss'], metavar='LOSS',
                        help='e.g. CosFaceLoss or "dict(type=\'ArcFaceLoss\', m=.3)" (default: %(default)s)')
    parser.add_argument('--scales', type=float, nargs='+', default=[10, 15, 30, 64], help='s (default: %(default)s)')
    parser.add_argument('--margins', type=float, nargs='+', default=[0, .3, .5], help='m (default: %(default)s)')
    parser.add_argument('--classes', type=int, nargs='+', default=[10, 1000, 10000, 1000000], help='C (default: %(default)s)')
    parser.add_argument('--at', type=float, nargs=3, default=[15, 0, 1000], metavar=('S', 'M', 'C'),
                        help='what holds where another is varied (default: %(default)s)')
    parser.add_argument('--out', type=Path, default=Path('work_dirs/probability'),
                        help='.png, .svg and .csv are added (default: %(default)s)')
    return parser.parse_args(argv)


def probability(config: dict, angle: torch.Tensor, classes: int) -> torch.Tensor:
    """P of the target at angles ``[B]`` in radians, C - 1 other classes being at 90 degrees."""
    found = LossProbe(config, classes)(angle.cos(), torch.zeros(len(angle), 1), classes - 1)
    if found.slope.isnan().all():
        raise ValueError(f'{config["type"]} is no softmax over classes: it gives no probability')
    return 1 - found.wrong


def with_arguments(config: dict, **values: float) -> dict:
    """The config with those of the arguments that the loss takes."""
    taken = inspect.signature(MODELS.get(config['type'])).parameters
    return dict(config, **{name: value for name, value in values.items() if name in taken})


def curves(args: argparse.Namespace, angle: torch.Tensor) -> list[tuple[str, str, torch.Tensor]]:
    """(what is varied, label, P) of each curve."""
    scale, margin, classes = args.at
    panels = {
        's': [dict(s=s, m=margin, C=classes) for s in args.scales],
        'm': [dict(s=scale, m=m, C=classes) for m in args.margins],
        'C': [dict(s=scale, m=margin, C=c) for c in args.classes],
    }
    found = []
    for text in args.losses:
        config = parse_loss(text)
        for varied, settings in panels.items():
            for setting in settings:
                p = probability(with_arguments(config, s=setting['s'], m=setting['m']), angle, int(setting['C']))
                found.append((varied, f'{config["type"]} ' + ', '.join(f'{name} = {value:g}' for name, value in setting.items()), p))
    return found


def draw(args: argparse.Namespace) -> None:
    angle = torch.linspace(0, math.pi, 361, dtype=torch.float64)[1:-1]
    figure = Figure(figsize=(13, 4.6), layout='constrained')
    axes = dict(zip('smC', figure.subplots(1, 3, sharey=True), strict=True))
    found = curves(args, angle)
    for varied, label, p in found:
        axes[varied].plot(angle.rad2deg(), p, label=label)
    for varied, axis in axes.items():
        axis.set(title=f'{varied} varied', xlabel='angle to the own prototype in degrees', xticks=range(0, 181, 30))
        axis.grid(alpha=.3)
        axis.legend(fontsize='x-small')
    axes['s'].set_ylabel('P of the own class')
    rows = ((varied, label, float(a), float(value)) for varied, label, p in found for a, value in zip(angle, p, strict=True))
    for path in write_curves(args.out, figure, ('varied', 'curve', 'theta_rad', 'probability'), rows):
        print(path)


def main(argv: list[str] | None = None) -> int:
    """Runs the tool and returns its exit code."""
    args = parse_args(argv)
    return run_command('probability', lambda: draw(args))


if __name__ == '__main__':
    sys.exit(main())
