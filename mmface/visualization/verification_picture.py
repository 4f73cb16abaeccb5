"""A whole verification result on one page."""
from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

from mmface.functional.roc import roc_curve
from mmface.functional.scores import split_scores

from .pair_strip import draw_pair_strip
from .roc_plot import draw_roc
from .similarity_plot import draw_similarities
from .style import new_axes, new_figure

_WIDTH = 11  # inches


def verification_picture(similarity: np.ndarray,
                         same: np.ndarray,
                         threshold: float,
                         first: Sequence[np.ndarray],
                         second: Sequence[np.ndarray],
                         shown: Sequence[int],
                         title: str,
                         far: float = 1e-2) -> Figure:
    """ROC with interval, similarity histograms with the threshold, and a strip of pairs.

    Args:
        similarity: [N] cosines of the set.
        same: bool [N].
        threshold: the cosine in use, drawn and used for the decisions of the strip.
        first: K images, uint8 RGB [H, W, 3], of the pairs in the strip.
        second: the K images they are compared with.
        shown: K rows of ``similarity`` that the images belong to (:func:`~mmface.visualization.pairs_to_show` chooses some).
        title: the headline.
        far: the FAR (a fraction) to mark on the ROC.

    Returns:
        A figure for :func:`~mmface.visualization.save_figure`.

    Raises:
        ValueError: scores that are not finite or of one kind only.
    """
    similarity, same = np.asarray(similarity, np.float64), np.asarray(same, bool)
    genuine, impostor = split_scores(similarity, same)
    curves_height, strip_height = 4.4, 2 * _WIDTH / len(shown) + 1.1
    figure = new_figure(_WIDTH, curves_height + strip_height)
    figure.suptitle(title, fontsize=13, fontweight='bold')
    curves, strip = figure.subfigures(2, 1, height_ratios=(curves_height, strip_height))
    left = new_axes(curves, 'Receiver operating characteristic', 'false accept rate (FAR)', 'true accept rate (TAR)', (1, 2, 1))
    draw_roc(left, roc_curve(genuine, impostor), 'TAR with its 95 % interval', far=far)
    right = new_axes(curves, 'Similarity of pairs', 'cosine similarity', 'share of pairs', (1, 2, 2))
    draw_similarities(right, genuine, impostor, threshold)
    headline = 'Pairs, of each kind from the easiest to the hardest (wrong decisions are white on black)'
    strip.suptitle(headline, fontsize=11, fontweight='bold', x=0.005, ha='left')
    draw_pair_strip(strip, first, second, [similarity[at] for at in shown], [same[at] for at in shown], threshold)
    return figure
