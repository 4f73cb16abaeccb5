"""One look for all pictures: Okabe and Ito's colours, which colour-blind readers can tell apart, and no global state."""
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure, SubFigure
from matplotlib.layout_engine import ConstrainedLayoutEngine

#: What a colour stands for, in every picture.
GENUINE, IMPOSTOR, NEUTRAL, HIGHLIGHT = '#0072B2', '#D55E00', '#5A5A5A', '#009E73'
#: For several models side by side.
SERIES = ('#0072B2', '#D55E00', '#009E73', '#CC79A7', '#E69F00', '#56B4E9', '#000000')


def new_figure(width: float, height: float) -> Figure:
    """An empty figure of so many inches, drawn without pyplot and so without a display."""
    figure = Figure(figsize=(width, height), dpi=150, facecolor='white', layout=ConstrainedLayoutEngine(h_pad=0.08, w_pad=0.08))
    FigureCanvasAgg(figure)
    return figure


def new_axes(figure: Figure | SubFigure, title: str, x: str, y: str, position: tuple[int, int, int] = (1, 1, 1)) -> Axes:
    """Axes with a title, names of both directions, a quiet grid and no box."""
    axes = figure.add_subplot(*position)
    axes.set_title(title, fontsize=11, fontweight='bold', loc='left')
    axes.set_xlabel(x, fontsize=9)
    axes.set_ylabel(y, fontsize=9)
    axes.tick_params(labelsize=8, color=NEUTRAL)
    axes.spines[['top', 'right']].set_visible(False)
    axes.grid(color='#E6E6E6', linewidth=0.7)
    axes.set_axisbelow(True)
    return axes


def save_figure(figure: Figure, path: str | Path) -> Path:
    """Writes the figure in the format that the name ends in (``.png``, ``.svg``, ``.pdf``), making the folder; returns the path."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path)
    return path
