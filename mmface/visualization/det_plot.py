"""DET curves: both errors, logarithmic."""
import numpy as np
from matplotlib.axes import Axes

from mmface.functional.intervals import wilson_interval
from mmface.functional.roc import Roc

from .roc_points import visible_points
from .style import GENUINE


def draw_det(axes: Axes, roc: Roc, name: str = 'FNMR', color: str = GENUINE) -> None:
    """Draws FNMR against FMR as the step function it is, both axes logarithmic, with Wilson's 95 % interval of the FNMR.

    A logarithm has no zero: an error that was not seen is drawn at half of the smallest that could have been.

    Args:
        axes: where to draw; both axes become logarithmic.
        roc: the scores' operating points.
        name: its name in the legend.
        color: of line and band.
    """
    shown, left, floor = visible_points(roc), 0.5 / roc.impostors, 0.5 / roc.genuine
    misses = roc.genuine - roc.true_accepts[shown]
    low, high = np.transpose([wilson_interval(int(k), roc.genuine) for k in misses])
    x = np.maximum(roc.far[shown], left)
    axes.fill_between(x, np.maximum(low, floor), high, step='post', color=color, alpha=0.18, linewidth=0)
    axes.step(x, np.maximum(misses / roc.genuine, floor), where='post', color=color, linewidth=1.8, label=name)
    axes.set_xscale('log')
    axes.set_yscale('log')
    axes.set_xlim(left, 1)
    axes.set_ylim(min(floor, axes.get_ylim()[0]), 1)
    axes.legend(loc='lower left', fontsize=8, edgecolor='none', facecolor='none')
