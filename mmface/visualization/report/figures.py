"""The pictures of a report, as SVG that takes its ink from the page, light or dark."""
import io
import re
from collections.abc import Iterator, Sequence

import matplotlib as mpl
from matplotlib.axes import Axes

from mmface.functional.roc import roc_curve

from ..cmc_plot import draw_cmc
from ..det_plot import draw_det
from ..fold_plot import draw_fold_accuracy
from ..rejection_plot import draw_rejection
from ..roc_plot import draw_roc
from ..similarity_plot import draw_similarities
from ..style import SERIES, new_axes, new_figure
from .report_case import ReportCase

_WIDTH, _HEIGHT = 4.8, 3.6  # inches: a phone shows it without shrinking the letters much
_INK = {'#000000': 'currentColor', '#5a5a5a': 'var(--quiet)', '#e6e6e6': 'var(--line)', '#ffffff': 'var(--page)'}


def figures(cases: Sequence[ReportCase]) -> list[tuple[str, str]]:
    """``(what it shows, SVG)`` of everything that one set's cases have the data for; all models in one picture where that can be read."""
    colored = [(case, SERIES[at % len(SERIES)]) for at, case in enumerate(cases)]
    drawn = [*_error_curves(colored), *_rejection(colored), *_ranks(colored), *_single(cases)]
    return [(caption, _svg(axes, f'{cases[0].set}-{at}')) for at, (caption, axes) in enumerate(drawn)]


def _error_curves(colored: Sequence[tuple[ReportCase, str]]) -> Iterator[tuple[str, Axes]]:
    curves = [(case.model, color, roc_curve(*scores)) for case, color in colored if (scores := case.scores) is not None]
    if not curves:
        return
    roc_axes = _axes('Receiver operating characteristic', 'false accept rate (FAR)', 'true accept rate (TAR)')
    det_axes = _axes('Detection error tradeoff', 'false match rate (FMR)', 'false non-match rate (FNMR)')
    for model, color, roc in curves:
        draw_roc(roc_axes, roc, model, color)
        draw_det(det_axes, roc, model, color)
    yield 'ROC with 95 % intervals', roc_axes
    yield 'DET with 95 % intervals', det_axes


def _rejection(colored: Sequence[tuple[ReportCase, str]]) -> Iterator[tuple[str, Axes]]:
    rated = [(case.model, color, *rated, case.threshold) for case, color in colored
             if (rated := case.rated) is not None and case.threshold is not None]  # yapf: disable
    if not rated:
        return
    axes = _axes('Error against rejection by feature norm', 'genuine comparisons turned away', 'FNMR of the others')
    for model, color, genuine, quality, threshold in rated:
        draw_rejection(axes, genuine, quality, threshold, model, color)
    yield 'Error against rejection; dotted: what a perfect measure of quality would give', axes


def _ranks(colored: Sequence[tuple[ReportCase, str]]) -> Iterator[tuple[str, Axes]]:
    searched = [(case.model, color, case.result) for case, color in colored if 'cmc_hits' in case.result]
    if not searched:
        return
    axes = _axes('Cumulative match characteristic', 'rank', 'searches with a mate within the rank')
    for model, color, result in searched:
        draw_cmc(axes, result['cmc_hits'], result['cmc_searches'], model, color)
    yield 'CMC with 95 % intervals', axes


def _single(cases: Sequence[ReportCase]) -> Iterator[tuple[str, Axes]]:
    for case in cases:
        if (scores := case.scores) is not None:
            axes = _axes(f'Similarity of pairs: {case.model}', 'cosine similarity', 'share of pairs')
            draw_similarities(axes, *scores, case.threshold)
            yield f'Similarities, {case.model}', axes
        if 'fold_accuracy' in case.result:
            axes = _axes(f'Accuracy by fold: {case.model}', 'fold', 'accuracy')
            draw_fold_accuracy(axes, case.result['fold_accuracy'])
            yield f'Folds, {case.model}', axes


def _axes(title: str, x: str, y: str) -> Axes:
    return new_axes(new_figure(_WIDTH, _HEIGHT), title, x, y)


def _svg(axes: Axes, salt: str) -> str:
    """The figure of these axes as an SVG element without background; ``salt`` keeps the ids of several in one page apart."""
    axes.figure.patch.set_visible(False)
    axes.patch.set_visible(False)
    buffer = io.StringIO()
    # Letters stay text: searchable, small, and in the page's own font.
    with mpl.rc_context({'svg.fonttype': 'none', 'svg.hashsalt': salt}):
        axes.figure.savefig(buffer, format='svg', metadata={'Date': None, 'Creator': None})
    svg = buffer.getvalue()
    svg = re.sub(r'<metadata>.*?</metadata>', '', svg[svg.index('<svg'):], flags=re.DOTALL)
    svg = re.sub(r'<svg [^>]*?(viewBox="[^"]*")[^>]*>', r'<svg \1 xmlns="http://www.w3.org/2000/svg" '
                 r'xmlns:xlink="http://www.w3.org/1999/xlink" role="img">', svg, count=1)  # yapf: disable
    used = set(re.findall(r'#([\w.]+)', svg))
    svg = re.sub(r' id="([^"]*)"', lambda found: found.group() if found.group(1) in used else '', svg)
    for written, ink in _INK.items():
        svg = svg.replace(written, ink)
    return svg
