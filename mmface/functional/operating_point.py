"""TAR at a given FAR, in the readings that are in use, each under its own name."""
from dataclasses import dataclass

import numpy as np

from .intervals import wilson_interval
from .roc import Roc, allowed


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
    return _point(roc, far, roc.lowest_genuine_above(roc.impostor(allowed(far, roc.impostors))))


def tar_at_nearest_far(roc: Roc, far: float) -> OperatingPoint:
    """InsightFace's reading, over the unthinned ROC: the point whose FAR is nearest to ``far``, above or below.

    Of several it takes the lowest threshold. On small sets the difference can be many points; for comparisons only.
    """
    below, above = _around(roc, far)
    return below if abs(below.far - far) < abs(above.far - far) else above


def interpolated_tar(roc: Roc, far: float) -> float:
    """The TAR on the straight line between neighbouring FARs, which no threshold reaches; for comparisons only."""
    below, above = _around(roc, far)
    return float(np.interp(far, [below.far, above.far], [below.tar, above.tar]))


def far_text(far: float) -> str:
    """How a FAR is written in keys and tables: ``1e-3``, ``5e-2``."""
    digits, exponent = f'{far:e}'.split('e')
    return f'{float(digits):g}e{int(exponent)}'


def _around(roc: Roc, far: float) -> tuple[OperatingPoint, OperatingPoint]:
    """The points with the two FARs that enclose ``far``, each at its lowest threshold, which has the highest TAR."""
    left_out = roc.impostor(allowed(far, roc.impostors))
    next_out = roc.impostor(roc.false_accepts_at(left_out))
    return _point(roc, far, roc.lowest_above(left_out)), _point(roc, far, roc.lowest_above(next_out))


def _point(roc: Roc, far: float, threshold: float) -> OperatingPoint:
    return OperatingPoint(
        float(far), threshold, roc.false_accepts_at(threshold), roc.true_accepts_at(threshold), roc.genuine, roc.impostors)
