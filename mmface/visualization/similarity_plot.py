"""How similar pairs of one person are, and pairs of two."""
import numpy as np
from matplotlib.axes import Axes

from .style import GENUINE, IMPOSTOR

_MAX_BINS = 60


def draw_similarities(axes: Axes, genuine: np.ndarray, impostor: np.ndarray, threshold: float | None = None) -> None:
    """Draws the histograms of both kinds of scores, each as shares of its own number, with the threshold.

    Args:
        axes: where to draw.
        genuine: [G] cosines of pairs that show one person.
        impostor: [I] cosines of pairs that show two.
        threshold: a cosine to mark; the legend then counts what falls on its wrong side (accepted means at or above it).
    """
    both = np.concatenate([genuine, impostor])
    low, high = float(both.min()), float(both.max())
    margin = max(0.02 * (high - low), 1e-3)
    count = int(np.clip(np.sqrt(min(len(genuine), len(impostor))) * 2, 12, _MAX_BINS))
    bins = np.linspace(low - margin, high + margin, count + 1).tolist()
    for scores, color, kind, genuine_kind in ((impostor, IMPOSTOR, 'two persons', False), (genuine, GENUINE, 'one person', True)):
        label = f'{kind}: {len(scores):,} pairs'
        if threshold is not None:
            accepted = int((scores >= threshold).sum())
            label += f', {len(scores) - accepted if genuine_kind else accepted:,} on the wrong side'
        shares = np.full(len(scores), 1 / len(scores))
        axes.hist(scores, bins, weights=shares, histtype='stepfilled', color=color, alpha=0.35)
        axes.hist(scores, bins, weights=shares, histtype='step', color=color, linewidth=1.5, label=label)
    top = axes.get_ylim()[1] * 1.3  # room for the legend
    axes.set_ylim(0, top)
    axes.set_xlim(bins[0], bins[-1])
    if threshold is not None:
        axes.axvline(threshold, color='black', linewidth=1.2, linestyle='--', label=f'threshold {threshold:.3f}')
    axes.legend(loc='upper left', fontsize=8, edgecolor='white')
