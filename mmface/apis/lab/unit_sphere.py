"""The sphere on which embeddings of three numbers lie."""
from typing import Any

import numpy as np


def draw_unit_sphere(axis: Any) -> None:
    """Draws meridians and parallels into an axis of three dimensions, and nothing else but what is added."""
    u, v = np.meshgrid(np.linspace(0, 2 * np.pi, 25), np.linspace(0, np.pi, 13))
    axis.plot_wireframe(np.cos(u) * np.sin(v), np.sin(u) * np.sin(v), np.cos(v), color='0.8', linewidth=.4)
    axis.set_box_aspect((1, 1, 1), zoom=1.4)
    axis.set_axis_off()
