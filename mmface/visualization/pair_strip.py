"""Pairs of faces with what was decided about them."""
from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure, SubFigure

from .style import GENUINE, IMPOSTOR


def pairs_to_show(similarity: np.ndarray, same: np.ndarray, count: int = 8) -> np.ndarray:
    """Which pairs tell most in little space: half of one person, half of two, each from the easiest to the hardest in equal steps of rank.

    Args:
        similarity: [N] cosines.
        same: bool [N], whether a pair shows one person.
        count: how many to choose, where there are that many.

    Returns:
        int64 rows of ``similarity``: genuine pairs by falling, then impostor pairs by rising similarity.
    """
    chosen = []
    for rows, order in ((np.flatnonzero(same), -1), (np.flatnonzero(~np.asarray(same, bool)), 1)):
        ranked = rows[np.argsort(order * np.asarray(similarity)[rows], kind='stable')]
        chosen.append(ranked[np.unique(np.linspace(0, len(ranked) - 1, min(len(ranked), count // 2)).round().astype(int))])
    return np.concatenate(chosen)


def draw_pair_strip(figure: Figure | SubFigure,
                    first: Sequence[np.ndarray],
                    second: Sequence[np.ndarray],
                    similarity: Sequence[float],
                    same: Sequence[bool],
                    threshold: float) -> None:
    """Draws K pairs in a row, one image above the other, with similarity and decision.

    A pair is accepted at or above the threshold. Wrong decisions stand white on black.

    Args:
        figure: what to fill.
        first: K images, uint8 RGB [H, W, 3].
        second: K images to compare them with.
        similarity: K cosines.
        same: K truths.
        threshold: a cosine.
    """
    cells = figure.subplots(2, len(first), squeeze=False)
    for column, (top, bottom, score, truth) in enumerate(zip(first, second, similarity, same, strict=True)):
        accepted = score >= threshold
        color = GENUINE if truth else IMPOSTOR
        for cell, image in zip(cells[:, column], (top, bottom), strict=True):
            cell.imshow(image)
            cell.set_xticks([])
            cell.set_yticks([])
            for spine in cell.spines.values():
                spine.set(color=color, linewidth=2.5)
        cells[0, column].set_title(f'{score:.2f}', fontsize=10, fontweight='bold', color=color, pad=4)
        verdict = f'{"one person" if truth else "two persons"}\n{"accepted" if accepted else "rejected"}'
        wrong = {} if accepted == truth else dict(color='white', bbox=dict(boxstyle='round,pad=0.2', facecolor='black'))
        cells[1, column].set_xlabel(verdict, fontsize=8, labelpad=6, **wrong)
