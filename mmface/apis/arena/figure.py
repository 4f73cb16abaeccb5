"""The tables as a picture."""
from collections.abc import Sequence

from matplotlib.figure import Figure

from mmface.visualization.style import GENUINE, NEUTRAL, new_axes, new_figure

from .report import Line


def draw(lines: Sequence[Line], measures: Sequence[str]) -> Figure:
    """A panel a measure: of every row the mean with its interval."""
    figure = new_figure(4.2 * len(measures), 1.6 + .28 * len(lines))
    for column, measure in enumerate(measures):
        axes = new_axes(figure, measure, '%, with 95 % interval', '', (1, len(measures), column + 1))
        for at, line in enumerate(lines):
            if measure in line.means:
                found = line.means[measure]
                axes.plot([100 * end for end in found.interval], [at, at], color=NEUTRAL, linewidth=1.5)
                axes.plot(100 * found.value, at, 'o', color=GENUINE, markersize=5)
        axes.set_ylim(len(lines) - .5, -.5)
        axes.set_yticks(range(len(lines)), [_label(line) for line in lines] if not column else [''] * len(lines))
    return figure


def _label(line: Line) -> str:
    return line.label if line.status == 'finished' else f'{line.label} ({line.status})'
