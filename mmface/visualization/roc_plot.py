"""ROC curves over a logarithmic false accept rate."""
import numpy as np
from matplotlib.axes import Axes

from mmface.functional.intervals import wilson_interval
from mmface.functional.operating_point import far_text, tar_at_far
from mmface.functional.roc import Roc

from .style import GENUINE, NEUTRAL

_MAX_STEPS = 1000  # more cannot be seen


def draw_roc(axes: Axes, roc: Roc, name: str = 'TAR', color: str = GENUINE, far: float | None = None) -> None:
    """Draws TAR against FAR as the step function it is, with Wilson's 95 % interval of the TAR.

    The axis starts where one impostor would be half accepted; left of one impostor the curve shows the TAR at no false accept at all.

    Args:
        axes: where to draw; its x axis becomes logarithmic.
        roc: the curve.
        name: its name in the legend.
        color: of line and band.
        far: a FAR (a fraction) to mark on the curve by the strict rule, or None.
    """
    last = np.append(np.flatnonzero(np.diff(roc.false_accepts)), len(roc.far) - 1)  # the best point of every FAR
    if len(last) > _MAX_STEPS:
        wanted = np.geomspace(1, roc.impostors, _MAX_STEPS)
        last = last[np.unique(np.append(0, np.searchsorted(roc.false_accepts[last], wanted, side='right') - 1))]
    left = 0.5 / roc.impostors
    x, hits = np.maximum(roc.far[last], left), roc.true_accepts[last]
    low, high = np.transpose([wilson_interval(int(k), roc.genuine) for k in hits])
    axes.fill_between(x, low, high, step='post', color=color, alpha=0.18, linewidth=0)
    axes.step(x, hits / roc.genuine, where='post', color=color, linewidth=1.8, label=name)
    axes.set_xscale('log')
    axes.set_xlim(left, 1)
    floor = min(low.min(), 1 - 0.05)
    axes.set_ylim(floor - 0.02 * (1 - floor), 1 + 0.02 * (1 - floor))
    axes.axvline(1 / roc.impostors, color=NEUTRAL, linewidth=0.8, linestyle=':')
    if far is not None:
        point = tar_at_far(roc, far)
        label = f'TAR {point.tar:.1%} at FAR {far_text(far)}'
        axes.plot([far], [point.tar], 'o', color=color, markeredgecolor='white', markersize=8, label=label)
    axes.legend(loc='lower right', fontsize=8, edgecolor='white')
