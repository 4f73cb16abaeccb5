"""Accuracy fold by fold."""
from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes

from .style import GENUINE, NEUTRAL


def draw_fold_accuracy(axes: Axes, fold_accuracy: Sequence[float]) -> None:
    """Draws the accuracy of each of F >= 2 folds (fractions), their mean, and the mean's standard error as a band."""
    accuracy = np.asarray(fold_accuracy, np.float64)
    mean, error = accuracy.mean(), accuracy.std(ddof=1) / np.sqrt(len(accuracy))
    at = np.arange(1, len(accuracy) + 1)
    axes.axhspan(mean - error, mean + error, color=NEUTRAL, alpha=0.15, linewidth=0)
    axes.axhline(mean, color=NEUTRAL, linewidth=1.2, linestyle='--', label=f'mean {mean:.2%} ± {error:.2%} (standard error)')
    axes.plot(at, accuracy, 'o', color=GENUINE, markersize=6)
    axes.set_xticks(at)
    room = max(0.2 * np.ptp(accuracy), 0.005)
    axes.set_ylim(accuracy.min() - room, min(accuracy.max() + room, 1 + room / 4))
    axes.yaxis.set_major_formatter(lambda share, _: f'{share:.1%}')
    axes.legend(loc='lower left', fontsize=8, edgecolor='none', facecolor='none')
