"""ROC curves over a logarithmic false accept rate."""
import numpy as np
from matplotlib.axes import Axes

from mmface.functional.intervals import wilson_interval
from mmface.functional.operating_point import far_text, tar_at_far
from mmface.functional.roc import Roc

from .roc_points import visible_points
from .style import GENUINE, NEUTRAL


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
    shown, left = visible_points(roc), 0.5 / roc.impostors
    x, hits = np.maximum(roc.far[shown], left), roc.true_accepts[shown]
    low, high = np.transpose([wilson_interval(int(k), roc.genuine) for k in hits])
    axes.fill_between(x, low, high, step='post', color=color, alpha=0.18, linewidth=0)
    axes.step(x, hits / roc.genuine, where='post', color=color, linewidth=1.8, label=name)
    axes.set_xscale('log')
    axes.set_xlim(left, 1)
    floor = min(axes.dataLim.y0, 1 - 0.05)  # of all curves drawn so far
    axes.set_ylim(floor - 0.02 * (1 - floor), 1 + 0.02 * (1 - floor))
    axes.axvline(1 / roc.impostors, color=NEUTRAL, linewidth=0.8, linestyle=':')
    if far is not None:
        point = tar_at_far(roc, far)
        label = f'TAR {point.tar:.1%} at FAR {far_text(far)}'
        axes.plot([far], [point.tar], 'o', color=color, markeredgecolor='white', markersize=8, label=label)
    axes.legend(loc='lower right', fontsize=8, edgecolor='white')
