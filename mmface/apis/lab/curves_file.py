"""A figure with the numbers behind it."""
import csv
from collections.abc import Iterable, Sequence
from io import StringIO
from pathlib import Path

from matplotlib import rc_context
from matplotlib.figure import Figure

from mmface.utils.atomic_file import atomic_file


def write_curves(out: Path, figure: Figure, header: Sequence[str], rows: Iterable[Sequence[object]]) -> list[Path]:
    """Writes ``out`` with the suffixes .png, .svg and .csv, the directories made, and returns the three.

    The same figure gives the same bytes.

    Args:
        out: a path; a suffix of the three is taken off.
        figure: to be drawn.
        header: names of the columns.
        rows: numbers and words; floats in full.
    """
    stem = out.with_suffix('') if out.suffix in ('.png', '.svg', '.csv') else out
    picture, drawing, numbers = (stem.with_name(f'{stem.name}{suffix}') for suffix in ('.png', '.svg', '.csv'))
    text = StringIO()
    csv.writer(text, lineterminator='\n').writerows([header, *rows])
    with atomic_file(numbers) as file:
        file.write(text.getvalue().encode())
    with atomic_file(picture) as file:
        figure.savefig(file, format='png', dpi=100)
    with atomic_file(drawing) as file, rc_context({'svg.hashsalt': 'mmface'}):
        figure.savefig(file, format='svg', metadata=dict(Date=None))
    return [picture, drawing, numbers]
