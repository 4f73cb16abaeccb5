"""TAR at a given FAR, in the readings that are in use, each under its own name."""
from dataclasses import dataclass

import numpy as np

from .intervals import wilson_interval
from .roc import Roc


@dataclass(frozen=True)
class OperatingPoint:
    """One threshold and what it does: accept when similarity >= threshold.

    ``far_target`` is what was asked for (a fraction), ``threshold`` is +inf where nothing may be accepted.
    """
    far_target: float
    threshold: float
    false_accepts: int
    true_accepts: int
    genuine: int
    impostors: int

    @property
    def far(self) -> float:
        """The share of impostors that is accepted."""
        return self.false_accepts / self.impostors

    @property
    def tar(self) -> float:
        """The share of genuine pairs that is accepted."""
        return self.true_accepts / self.genuine

    @property
    def tar_ci95(self) -> tuple[float, float]:
        """Wilson's 95 % interval of the TAR, pairs taken as independent (they share people, so it is too narrow)."""
        return wilson_interval(self.true_accepts, self.genuine)

    @property
    def resolvable(self) -> bool:
        """Whether there are enough impostors for the target to allow a single false accept."""
        return self.far_target >= 1 / self.impostors

    def to_dict(self) -> dict:
        """The record of a threshold file."""
        return dict(
            far_target=self.far_target, far=self.far, similarity=self.threshold, tar=self.tar, tar_ci95=list(self.tar_ci95),
            genuine=self.genuine, impostors=self.impostors, false_accepts=self.false_accepts, resolvable=self.resolvable)


def tar_at_far(roc: Roc, far: float) -> OperatingPoint:
    """The strict reading, and ours: the largest TAR whose FAR does not exceed ``far`` (a fraction), at the highest threshold with it."""
    _check(far)
    best = roc.true_accepts[np.searchsorted(roc.far, far, side='right') - 1]
    return _point(roc, far, int(np.searchsorted(roc.true_accepts, best)))


def tar_at_nearest_far(roc: Roc, far: float) -> OperatingPoint:
    """InsightFace's reading, over the unthinned ROC: the point whose FAR is nearest to ``far``, above or below.

    Of several it takes the lowest threshold. On small sets the difference can be many points; for comparisons only.
    """
    _check(far)
    distance = np.abs(roc.far - far)
    return _point(roc, far, len(distance) - 1 - int(np.argmin(distance[::-1])))


def interpolated_tar(roc: Roc, far: float) -> float:
    """The TAR on the straight line between neighbouring FARs, which no threshold reaches; for comparisons only."""
    _check(far)
    best = np.append(np.flatnonzero(np.diff(roc.false_accepts)), len(roc.far) - 1)  # of the points with one FAR, the highest TAR
    return float(np.interp(far, roc.far[best], roc.tar[best]))


def far_text(far: float) -> str:
    """How a FAR is written in keys and tables: ``1e-3``, ``5e-2``."""
    digits, exponent = f'{far:e}'.split('e')
    return f'{float(digits):g}e{int(exponent)}'


def _check(far: float) -> None:
    if not 0 <= far <= 1:
        raise ValueError(f'a FAR is a fraction in [0, 1], got {far}')


def _point(roc: Roc, far: float, at: int) -> OperatingPoint:
    return OperatingPoint(
        float(far), float(roc.thresholds[at]), int(roc.false_accepts[at]), int(roc.true_accepts[at]), roc.genuine, roc.impostors)
