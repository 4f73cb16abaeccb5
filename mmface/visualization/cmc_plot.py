"""Cumulative match characteristic: how far down the list the person looked for is."""
import numpy as np
from matplotlib.axes import Axes

from mmface.functional.intervals import wilson_interval

from .style import GENUINE


def draw_cmc(axes: Axes, rank: np.ndarray, name: str = 'mate within rank', color: str = GENUINE, last: int = 20) -> None:
    """Draws the share of searches whose first mate is within rank r, r = 1 ... ``last``, with Wilson's 95 % interval.

    Args:
        axes: where to draw.
        rank: [Q] ranks of the first mates, counted from 1.
        name: its name in the legend.
        color: of line and band.
        last: the last rank shown.
    """
    ranks = np.arange(1, last + 1)
    hits = (np.asarray(rank)[:, None] <= ranks).sum(0)
    low, high = np.transpose([wilson_interval(int(k), len(rank)) for k in hits])
    axes.fill_between(ranks, low, high, color=color, alpha=0.18, linewidth=0)
    axes.plot(ranks, hits / len(rank), '.-', color=color, linewidth=1.8, label=name)
    axes.set_xlim(1, last)
    axes.yaxis.set_major_formatter(lambda share, _: f'{share:.0%}')
    axes.legend(loc='lower right', fontsize=8, edgecolor='none', facecolor='none')
