"""The decisions that went most wrong."""
import base64
from dataclasses import dataclass

import cv2
import numpy as np

from .report_case import ReportCase

_SHOWN = 6


@dataclass(frozen=True)
class ShownPair:
    """Row ``number`` of the pairs, its score, and its two images as ``data:`` addresses."""
    number: int
    similarity: float
    images: tuple[str, ...]


def worst_pairs(case: ReportCase, count: int = _SHOWN) -> dict[str, list[ShownPair]]:
    """The most similar impostors that were accepted and the least similar genuine pairs that were not, worst first, with their images.

    Empty lists where there are none; an empty dict where the case has no scores, no images or no threshold.
    """
    if case.similarity is None or case.same is None or case.images is None or case.threshold is None:
        return {}
    accepted = case.similarity >= case.threshold
    found = {}
    for name, wrong, order in (('false accepts', accepted & ~case.same, -1), ('false rejects', ~accepted & case.same, 1)):
        rows = np.flatnonzero(wrong)
        rows = rows[np.argsort(order * case.similarity[rows], kind='stable')][:count]
        found[name] = [ShownPair(int(row), float(case.similarity[row]), tuple(map(_address, case.images(int(row))))) for row in rows]
    return found


def _address(image: np.ndarray) -> str:
    _, encoded = cv2.imencode('.jpg', cv2.cvtColor(np.ascontiguousarray(image), cv2.COLOR_RGB2BGR), [cv2.IMWRITE_JPEG_QUALITY, 90])
    return 'data:image/jpeg;base64,' + base64.b64encode(encoded.tobytes()).decode()
