"""Error against rejection by quality."""
import numpy as np
from matplotlib.axes import Axes

from mmface.functional.rejection import error_by_rejection

from .style import GENUINE

_MOST = 0.95  # what is left beyond is too few to say anything


def draw_rejection(axes: Axes,
                   similarity: np.ndarray,
                   quality: np.ndarray,
                   threshold: float,
                   name: str = 'FNMR',
                   color: str = GENUINE) -> None:
    """Draws the FNMR of the genuine comparisons that stay when those of lowest quality are turned away, and the ideal as a thin line.

    Args:
        axes: where to draw.
        similarity: [G] scores of genuine comparisons.
        quality: [G], the lower quality of the two images of each, see :func:`~mmface.functional.rejection.error_by_rejection`.
        threshold: accept when similarity >= threshold.
        name: its name in the legend.
        color: of the line.
    """
    rejected, error = error_by_rejection(similarity, quality, threshold)
    shown = rejected <= _MOST
    axes.step(rejected[shown], error[shown], where='post', color=color, linewidth=1.8, label=name)
    axes.plot([0, error[0]], [error[0], 0], color=color, linewidth=0.8, linestyle=':')
    axes.set_xlim(0, _MOST)
    axes.set_ylim(bottom=0)
    axes.xaxis.set_major_formatter(lambda share, _: f'{share:.0%}')
    axes.yaxis.set_major_formatter(lambda share, _: f'{share:.1%}')
    axes.legend(loc='upper right', fontsize=8, edgecolor='none', facecolor='none')
