"""Cumulative match characteristic: how far down the list the person looked for is."""
from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes

from mmface.functional.intervals import wilson_interval

from .style import GENUINE


def draw_cmc(axes: Axes, hits: Sequence[int], searches: int, name: str = 'mate within rank', color: str = GENUINE) -> None:
    """Draws the share of searches whose first mate is within rank 1, 2 ..., with Wilson's 95 % interval.

    Args:
        axes: where to draw.
        hits: how many searches have a mate within each rank.
        searches: how many there are.
        name: its name in the legend.
        color: of line and band.
    """
    ranks = np.arange(1, len(hits) + 1)
    low, high = np.transpose([wilson_interval(int(k), searches) for k in hits])
    axes.fill_between(ranks, low, high, color=color, alpha=0.18, linewidth=0)
    axes.plot(ranks, np.asarray(hits) / searches, '.-', color=color, linewidth=1.8, label=name)
    axes.set_xlim(1, len(hits))
    axes.yaxis.set_major_formatter(lambda share, _: f'{share:.0%}')
    axes.legend(loc='lower right', fontsize=8, edgecolor='none', facecolor='none')
