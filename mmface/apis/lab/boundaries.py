"""The line on which a loss takes a feature to change sides, between two classes."""
import math

import numpy as np
import torch
from matplotlib.figure import Figure

from .loss_probe import LossProbe

_GRID = 721  # angles looked at before the first change of sides is narrowed down


def boundary_angle(probe: LossProbe, apart: float) -> float:
    """The angle in radians from the own prototype at which a feature, on its way to the other one, leaves its side; NaN without a side.

    Args:
        probe: the loss.
        apart: the angle between the two prototypes, in (0, pi).
    """
    theta = torch.linspace(0, apart, _GRID, dtype=torch.float64)
    inside = _satisfied(probe, theta, apart) > 0
    leaves = (inside[:-1] & ~inside[1:]).nonzero().flatten()
    if not len(leaves):
        return math.nan
    low, high = theta[leaves[0]], theta[leaves[0] + 1]
    for _ in range(50):
        middle = (low + high) / 2
        if _satisfied(probe, middle.unsqueeze(0), apart)[0] > 0:
            low = middle
        else:
            high = middle
    return float(low + high) / 2


def boundary_on_sphere(probe: LossProbe, apart: float, own: int) -> list[np.ndarray]:
    """The boundary on the unit sphere in three dimensions, as lines of points ``[N, 3]``.

    The prototypes lie on the equator, at longitudes -apart/2 (class 1) and apart/2 (class 2) of the x axis.

    Args:
        probe: the loss.
        apart: the angle between the prototypes, in (0, pi).
        own: 1 or 2, the class of the features.
    """
    longitude, latitude = torch.linspace(-math.pi, math.pi, 361).double(), torch.linspace(-math.pi / 2, math.pi / 2, 181).double()
    across, up = torch.meshgrid(longitude, latitude, indexing='xy')
    cosines = [(up.cos() * (across - center).cos()).flatten().clamp(-1, 1) for center in (-apart / 2, apart / 2)]
    mine, other = cosines if own == 1 else cosines[::-1]
    values = probe.satisfied(mine, other.unsqueeze(1)).view(across.shape)
    values = (values + .5).clamp(1e-12, 1 - 1e-12).logit()  # nearly straight across the line, as contours want it
    lines = Figure().subplots().contour(longitude, latitude, values, [0.]).allsegs[0]
    return [np.stack([np.cos(line[:, 1]) * np.cos(line[:, 0]), np.cos(line[:, 1]) * np.sin(line[:, 0]), np.sin(line[:, 1])], 1)
            for line in lines if len(line)]  # yapf: disable


def _satisfied(probe: LossProbe, theta: torch.Tensor, apart: float) -> torch.Tensor:
    return probe.satisfied(theta.cos(), (apart - theta).cos().unsqueeze(1))
