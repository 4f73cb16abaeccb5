#!/usr/bin/env python
"""Feature norm, P and image quality over a training: AdaFace (CVPR 2022), Fig. 4 to 7, for any loss.

Each checkpoint looks at the same --images training images, without augmentation. Drawn are norm and P of the own class against image
quality (1 - BRISQUE / 100 of the image as it lies in the set), their correlations over the training, and the gradient scaling term dL/dcos
of each image over angle and norm; all but the quality comes out of the loss and the prototypes in the checkpoint, by autograd.

Zones: the paper shows images from six regions of the plane of angle and norm; their limits we do not know. Here they are two norms (below
the median, or not) by three thirds of the angle to the own prototype (easy, medium, hard), of the last checkpoint: as many images in each
row and column, whatever the loss.

OUT.png, .svg and .csv hold dots and numbers. OUT_zones.png shows training images, --shown of each zone by rising angle: of real people,
keep it where it is.
"""
import argparse
import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from mmface.apis.lab import write_curves
from mmface.apis.lab.correlation import Correlation, correlate
from mmface.apis.lab.image_quality import LEAST_SIDE, ImageQuality
from mmface.apis.lab.over_training import Snapshot, over_training
from mmface.apis.lab.sample_responses import SampleResponses
from mmface.apis.lab.training_samples import draw_training_samples
from mmface.apis.lab.zones import ZONES, zones
from mmface.apis.train import load_config
from mmface.utils.command import run_command
from mmface.utils.dict_action import DictAction
from mmface.utils.progress import Progress
from mmface.visualization import save_figure

COLUMNS = ('checkpoint', 'iteration', 'image', 'label', 'quality', 'norm', 'angle_deg', 'scaling', 'probability', 'zone_at_end')
NAMES = dict(norm='feature norm', probability='P of the own class')


def parse_args(argv: list[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                                     epilog='Exit codes: 0 drawn; 2 bad usage or input.')
    parser.add_argument('config', help='of the training')
    parser.add_argument('--checkpoints', nargs='+', type=Path, required=True, metavar='FILE', help='of it, such as work_dirs/NAME/*.pth')
    parser.add_argument('--images', type=int, default=1536, help='of the training set, drawn at random (default: %(default)s)')
    parser.add_argument('--shown', type=int, default=8, help='images of each zone (default: %(default)s)')
    parser.add_argument('--seed', type=int, default=0, help='of the draw (default: %(default)s)')
    parser.add_argument('--out', type=Path, default=Path('work_dirs/quality'), help='(default: %(default)s)')
    parser.add_argument('--cfg-options', nargs='+', action=DictAction, metavar='KEY=VALUE', help='as they were given to the training')
    return parser.parse_args(argv)


def analyse(args: argparse.Namespace) -> None:
    if args.images < len(ZONES) or args.shown < 1:
        raise ValueError(f'it takes at least {len(ZONES)} --images, and 1 --shown')
    measure = ImageQuality()
    config = load_config(args.config, None, args.cfg_options, 'none')
    samples = draw_training_samples(config, args.images, args.seed)
    images = samples.images.permute(0, 2, 3, 1).numpy()
    quality = np.empty(len(images))
    with Progress('BRISQUE', len(images)) as progress:
        for row in range(len(images)):
            quality[row] = measure(samples.picture(row))
            progress.advance()
    if unknown := int(np.isnan(quality).sum()):
        print(f'{unknown} of {len(images)} images have no contrast or a side below {LEAST_SIDE} pixels: correlations go without them')
    snapshots = over_training(config, args.checkpoints, samples)
    correlations = report(snapshots, quality)
    last = snapshots[-1].responses
    where, limits = zones(last.norm, last.angle)
    report_zones(last, where, quality)
    fixed = samples.places.tolist(), samples.labels.tolist(), quality.tolist()
    rows: list[tuple] = []
    for name, iteration, responses in snapshots:
        columns = *fixed, *(values.tolist() for values in responses), [ZONES[zone] for zone in where]
        rows += [(name, iteration, *row) for row in zip(*columns, strict=True)]
    for path in write_curves(args.out, draw(snapshots, quality, correlations, limits), COLUMNS, rows):
        print(path)
    print(save_figure(draw_zones(images, last, where, args.shown), args.out.with_name(f'{args.out.stem}_zones.png')))


def report(snapshots: list[Snapshot], quality: np.ndarray) -> dict[str, list[Correlation]]:
    """Prints the correlations with quality, and returns them by name, one a checkpoint."""
    found = {name: [correlate(getattr(snapshot.responses, name), quality) for snapshot in snapshots] for name in NAMES}
    print('| checkpoint | iteration | quality and norm: correlation (95 %) | quality and P |\n|---|---:|---|---|')
    for snapshot, norm, probability in zip(snapshots, *found.values(), strict=True):
        print(f'| {snapshot.name} | {snapshot.iteration} | {norm} | {probability} |')
    return found


def report_zones(last: SampleResponses, where: np.ndarray, quality: np.ndarray) -> None:
    print('\n| zone | images | mean quality | mean P | mean gradient length |\n|---|---:|---:|---:|---:|')
    for at, name in enumerate(ZONES):
        inside = where == at
        numbers = [values[inside & np.isfinite(values)] for values in (quality, last.probability, np.abs(last.scaling))]
        means = ' | '.join(f'{values.mean():.4g}' if len(values) else '' for values in numbers)
        print(f'| {name} | {inside.sum()} | {means} |')


def draw(snapshots: list[Snapshot], quality: np.ndarray, correlations: dict[str, list[Correlation]], limits: np.ndarray) -> Figure:
    figure = Figure(figsize=(13, 9), layout='constrained')
    last, steps = snapshots[-1], [snapshot.iteration for snapshot in snapshots]
    over = figure.add_subplot(2, 2, 3)
    for place, (name, label) in enumerate(NAMES.items()):
        values, found = getattr(last.responses, name), correlations[name]
        axis = figure.add_subplot(2, 2, place + 1)
        axis.scatter(quality, values, s=4, alpha=.5, rasterized=True)
        axis.set(title=f'{last.name}: correlation {found[-1].pearson:.3f}', xlabel='quality, 1 - BRISQUE / 100', ylabel=label)
        axis.grid(alpha=.3)
        over.plot(steps, [c.pearson for c in found], 'o-', label=label)
        over.fill_between(steps, [c.low for c in found], [c.high for c in found], alpha=.15)
    over.set(title='correlation with quality, and its interval of 95 %', xlabel='iteration')
    over.grid(alpha=.3)
    over.legend()
    sector = figure.add_subplot(2, 2, 4, projection='polar')
    length = np.abs(last.responses.scaling)
    dots = sector.scatter(np.radians(last.responses.angle), last.responses.norm, c=length, s=6, rasterized=True)
    high = 1.05 * last.responses.norm.max()
    for angle in np.radians(limits[1:]):
        sector.plot([angle, angle], [0, high], color='black', linewidth=.8)
    arc = np.linspace(0, np.radians(last.responses.angle.max()), 100)
    sector.plot(arc, np.full(100, limits[0]), color='black', linewidth=.8)
    sector.set(title='|dL/dcos| over angle and norm, and the six zones', thetamin=0, thetamax=last.responses.angle.max(), rmin=0, rmax=high)
    figure.colorbar(dots, ax=sector, shrink=.6)
    return figure


def draw_zones(images: np.ndarray, last: SampleResponses, where: np.ndarray, shown: int) -> Figure:
    """A strip of images for each zone, with P (or, where there is none, the angle) above each."""
    figure = Figure(figsize=(1.1 * shown + 1.6, 1.5 * len(ZONES)), layout='constrained')
    cells = figure.subplots(len(ZONES), shown, squeeze=False)
    for strip, (zone, name) in zip(cells, enumerate(ZONES), strict=True):
        members = np.flatnonzero(where == zone)
        members = members[np.argsort(last.angle[members], kind='stable')]
        chosen = members[np.unique(np.linspace(0, len(members) - 1, min(shown, len(members))).round().astype(int))]
        for cell in strip:
            cell.set(xticks=[], yticks=[], frame_on=False)
        for cell, at in zip(strip, chosen, strict=False):
            cell.imshow(images[at])
            known = np.isfinite(last.probability[at])
            cell.set_title(f'P {last.probability[at]:.2f}' if known else f'{last.angle[at]:.0f}\N{DEGREE SIGN}', fontsize=8)
        strip[0].set_ylabel(name.replace(', ', '\n'), fontsize=9)
    return figure


def main(argv: list[str] | None = None) -> int:
    """Runs the tool and returns its exit code."""
    args = parse_args(argv)
    return run_command('quality', lambda: analyse(args))


if __name__ == '__main__':
    sys.exit(main())
