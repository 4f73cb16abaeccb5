#!/usr/bin/env python
"""Draws logits and their slopes against the angle, as the registered losses themselves compute them: the pictures of docs/losses."""
import argparse
import math
import sys
from io import BytesIO
from pathlib import Path

import torch
from matplotlib.figure import Figure
from PIL import Image
from torch import Tensor

from mmface.apis.lab import LossProbe, parse_loss

NUM_CLASSES = 10572  #: CASIA-WebFace's
SHOWN_SLOPE = 200.  #: steeper ones are cut off

#: A page's picture: label -> config of the loss, plus ``norm`` (of the feature) and ``state`` (buffers) where they matter.
PAGES: dict[str, dict[str, dict]] = {
    'softmax': {
        'SoftmaxLoss, |x| = 20': dict(type='SoftmaxLoss'),
        'L2SoftmaxLoss': dict(type='L2SoftmaxLoss'),
    },
    'normalized_softmax': {
        'NormFaceLoss': dict(type='NormFaceLoss'),
        'COCOLoss': dict(type='COCOLoss'),
        'AdaCosLoss, fixed': dict(type='AdaCosLoss', dynamic=False),
    },
    'multiplicative_margins': {
        'SphereFaceLoss, lam 5, |x| = 20': dict(type='SphereFaceLoss', lam=5.),
        'SphereFaceLoss, lam 0, |x| = 20': dict(type='SphereFaceLoss', lam=0.),
        'SphereFaceRLoss v0': dict(type='SphereFaceRLoss', version='v0', detach_margin=False),
        'SphereFaceRLoss v1': dict(type='SphereFaceRLoss', version='v1', detach_margin=False),
        'SphereFaceRLoss v1, detached': dict(type='SphereFaceRLoss', version='v1'),
        'SphereFaceRLoss v2': dict(type='SphereFaceRLoss', version='v2', m=1.4, detach_margin=False),
    },
    'additive_margins': {
        'NormFaceLoss': dict(type='NormFaceLoss', s=64.),
        'CosFaceLoss': dict(type='CosFaceLoss'),
        'ArcFaceLoss': dict(type='ArcFaceLoss'),
        "ArcFaceLoss 'easy'": dict(type='ArcFaceLoss', beyond_pi='easy'),
        "ArcFaceLoss 'none'": dict(type='ArcFaceLoss', beyond_pi='none'),
        'ArcFaceLoss, detached': dict(type='ArcFaceLoss', beyond_pi='none', detach_margin=True),
        'CombinedMarginLoss': dict(type='CombinedMarginLoss'),
    },
    'quality': {
        'AdaFaceLoss, z = -1': dict(type='AdaFaceLoss', state=dict(norm_mean=30., norm_std=1.)),
        'AdaFaceLoss, z = 0': dict(type='AdaFaceLoss', state=dict(norm_mean=20., norm_std=1.)),
        'AdaFaceLoss, z = 1': dict(type='AdaFaceLoss', state=dict(norm_mean=10., norm_std=1.)),
        'MagFaceLoss, |x| = 10, without g': dict(type='MagFaceLoss', lambda_g=0., norm=10.),
        'MagFaceLoss, |x| = 110, without g': dict(type='MagFaceLoss', lambda_g=0., norm=110.),
    },
    'hard_negatives': {
        'CurricularFaceLoss, t = 0': dict(type='CurricularFaceLoss'),
        'CurricularFaceLoss, t = 0.5': dict(type='CurricularFaceLoss', state=dict(t=.5)),
        "MVSoftmaxLoss 'am'": dict(type='MVSoftmaxLoss'),
        "MVSoftmaxLoss 'arc'": dict(type='MVSoftmaxLoss', kind='arc', m=.5),
    },
    'gb_cosface': {
        'alpha = 0': dict(type='GBCosFaceLoss', alpha=0.),
        'alpha = 0.15': dict(type='GBCosFaceLoss', state=dict(p_vg=.62)),
        'alpha = 1': dict(type='GBCosFaceLoss', alpha=1., state=dict(p_vg=.62)),
    },
    'p2sgrad': {
        'P2SGradLoss': dict(type='P2SGradLoss'),
    },
    'binary': {
        'SphereFace2Loss C': dict(type='SphereFace2Loss', lw=10., detach_margin=False),
        'SphereFace2Loss C, detached': dict(type='SphereFace2Loss', lw=10.),
        'SphereFace2Loss A, detached': dict(type='SphereFace2Loss', kind='A', m=.5, lw=10.),
        'UniFaceLoss': dict(type='UniFaceLoss'),
    },
}


def target_curve(probe: LossProbe, angle: Tensor) -> tuple[Tensor, Tensor, bool]:
    """The target's logits at angles ``[B]`` in degrees, the other classes being at 90, and their slopes in the cosine, by autograd.

    Where the loss is ``softplus(S - logit)`` it is solved for the logit. Elsewhere the last result is False, and the first minus the loss.
    """
    cosine = angle.deg2rad().cos().requires_grad_()
    loss, t = probe.loss, probe.target(cosine)
    spec = loss.prepare(t)
    value = spec(torch.zeros_like(cosine))
    S = value + math.log(NUM_CLASSES - 1) if spec.kind == 'lse' else value * (NUM_CLASSES - 1)
    losses = loss(t, S)
    logits = S - (losses + torch.log(-torch.expm1(-losses)))
    is_softmax = torch.allclose(logits, S + 1000 - loss(t, S + 1000), atol=1e-6)
    values = logits if is_softmax else -losses
    return values.detach(), torch.autograd.grad(values.sum(), cosine)[0], is_softmax


def negative_curve(probe: LossProbe, angle: Tensor, target_angle: float = 60.) -> tuple[Tensor, Tensor]:
    """A negative's z or h at angles ``[B]``, the target being at ``target_angle``, all in degrees; and the slopes in the cosine."""
    cosine = angle.deg2rad().cos().requires_grad_()
    target = torch.full_like(angle, target_angle).deg2rad().cos()
    values = probe.loss.prepare(probe.target(target))(probe.target(cosine).similarity)
    return values.detach(), torch.autograd.grad(values.sum(), cosine)[0]


def draw(losses: dict[str, dict], path: Path) -> None:
    """Draws a picture: logits above, slopes below; the target on the left, a negative on the right."""
    angle = torch.linspace(1, 179, 357, dtype=torch.float64)
    figure = Figure(figsize=(10, 6.4), layout='constrained')
    axes = figure.subplots(2, 2, sharex=True)
    for label, config in losses.items():
        probe = LossProbe(config, NUM_CLASSES)
        *target, is_softmax = target_curve(probe, angle)
        shown = label if is_softmax else f'{label} (minus the loss)'
        for column, curves in enumerate((target, negative_curve(probe, angle))):
            for row, values in enumerate(curves):
                axes[row, column].plot(angle, values, label=shown if row == column == 0 else None)
    axes[0, 0].set(title='target', ylabel='logit')
    axes[0, 1].set(title='a negative, the target being at 60 degrees')
    axes[1, 0].set(xlabel='angle to the prototype in degrees', ylabel='slope in the cosine')
    axes[1, 1].set(xlabel='angle to the prototype in degrees', xticks=range(0, 181, 30))
    for axis in axes.flat:
        axis.grid(alpha=.3)
    for axis in axes[1]:
        low, high = axis.get_ylim()
        axis.set_ylim(max(low, -SHOWN_SLOPE / 4), min(high, SHOWN_SLOPE))
    figure.legend(loc='outside lower center', ncols=3, fontsize='small')
    drawn = BytesIO()
    figure.savefig(drawn, dpi=80)
    Image.open(drawn).convert('P', palette=Image.Palette.ADAPTIVE, colors=64).save(path, optimize=True)


def main(argv: list[str] | None = None) -> int:
    """Draws the losses of the command line, or the pictures of the docs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('losses', nargs='*', metavar='LOSS', help='e.g. CosFaceLoss or "dict(type=\'ArcFaceLoss\', m=.3)", together in one '
                        'picture; without any, the pictures of the docs')
    parser.add_argument('--out', type=Path, default=Path('docs/losses'), help='a PNG, or the folder of the docs (default: %(default)s)')
    args = parser.parse_args(argv)
    if args.losses:
        configs = {text: parse_loss(text) for text in args.losses}
        path = args.out if args.out.suffix else args.out / 'losses.png'
        draw(configs, path)
        print(path)
        return 0
    args.out.mkdir(parents=True, exist_ok=True)
    for page, losses in PAGES.items():
        draw(losses, args.out / f'{page}.png')
        print(args.out / f'{page}.png')
    return 0


if __name__ == '__main__':
    sys.exit(main())
