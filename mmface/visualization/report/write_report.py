"""Writes the report."""
import os
from collections.abc import Sequence
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined

from mmface.version import __version__

from .figures import figures
from .report_case import ReportCase
from .tables import interval_text, metric_rows, number_text, points_of
from .worst_pairs import worst_pairs


def write_report(cases: Sequence[ReportCase],
                 path: str | Path,
                 images: bool = True,
                 title: str = 'Face verification',
                 comparisons: Sequence[dict] = ()) -> Path:
    """Writes one self-contained HTML file: tables and pictures of every set, all models side by side.

    It has no script, asks no network for anything, and follows the reader's choice of light or dark. Faces are in it, as the worst pairs,
    only where cases have images and ``images`` is true: leave them out of a report that is passed on.

    Args:
        cases: models on sets, in the order of their columns and sections.
        path: the ``.html`` to write; it appears when it is complete.
        images: whether to show pairs of faces.
        title: the headline.
        comparisons: ``models`` (first, second) and ``set``, with numbers of the second less those of the first.

    Raises:
        ValueError: no cases, or two of one model on one set.
    """
    if not cases:
        raise ValueError('a report needs at least one result')
    keys = [(case.model, case.set) for case in cases]
    twice = next((key for key in keys if keys.count(key) > 1), None)
    if twice:
        raise ValueError(f'two results of {twice[0]} on {twice[1]}: give the models different names')
    environment = Environment(
        loader=PackageLoader('mmface.visualization.report'), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True)
    page = environment.get_template('report.html').render(
        title=title, version=__version__, sections=[
            _section([case for case in cases if case.set == name], [entry for entry in comparisons if entry['set'] == name], images)
            for name in dict.fromkeys(case.set for case in cases)
        ])
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f'.{path.name}.{os.getpid()}')
    unfinished.write_text(page, encoding='utf-8')
    unfinished.replace(path)
    return path


def _section(cases: Sequence[ReportCase], comparisons: Sequence[dict], images: bool) -> dict:
    """All that the template shows of one set."""
    return dict(
        set=cases[0].set, cases=cases, rows=metric_rows([case.result for case in cases]),
        compared=[f'{entry["models"][1]} less {entry["models"][0]}' for entry in comparisons], differences=metric_rows(comparisons),
        figures=figures(cases),
        points=[(case.model, key, [_point(key, point) for point in points]) for case in cases for key, points in points_of(case.result)],
        pairs=[(case.model, case.threshold, worst_pairs(case)) for case in cases] if images else [])


def _point(key: str, point: dict) -> dict:
    """An operating point as the cells of a row: ``name -> (text, value)``."""
    cells = {}
    for name, value in point.items():
        if name in ('far_target', 'fpir_target'):
            cells[name] = (f'{value:g}', value)
        elif name.endswith('_ci95'):
            cells[name] = (interval_text(key, value), '')
        elif name != 'resolvable':
            cells[name] = (number_text(name, value), value)
    return dict(cells=cells, resolvable=point.get('resolvable', True))
