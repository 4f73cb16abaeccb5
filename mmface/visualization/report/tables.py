"""From results of any protocol to the rows of a table: a protocol written tomorrow has its report at once."""
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

_ELSEWHERE = ('set', 'switches', 'protocol_hash', 'model', 'cmc_searches')  # shown in other places than the table
_COSINES, _FACTORS = ('threshold', 'similarity'), ('ratio', 'over_best')
_SMALL = ('far', 'fmr', 'fpir', 'far_target', 'fpir_target', 'p_value')


@dataclass(frozen=True)
class Cell:
    """A number as it is shown, and as it is.

    ``value`` is None where a model does not have the number.
    """
    text: str
    value: float | None = None
    interval: str = ''


@dataclass(frozen=True)
class Row:
    """A number of each model, under its key in the result (``'tpir/G1'``)."""
    key: str
    cells: list[Cell]

    @property
    def label(self) -> str:
        """The key in words."""
        return self.key.replace('_', ' ').replace('/', ' / ')


def number_text(key: str, value: float | None) -> str:
    """A count, a cosine, a factor, an area, a small rate, or else a share in percent: its key says which. None: not measured."""
    if value is None:
        return 'not measured'
    last = key.rsplit('/', 1)[-1]
    if isinstance(value, int):
        return f'{value:,}'
    if last.endswith(_COSINES):
        return f'{value:.4f}'
    if last.endswith(_FACTORS):
        return f'{value:.2f} times'
    if last in _SMALL:
        return f'{value:.3g}'
    return f'{value:.5f}' if last.startswith('auc') else f'{value:.2%}'


def interval_text(key: str, bounds: Sequence[float]) -> str:
    """Two bounds like :func:`number_text`."""
    return f'{number_text(key, bounds[0])} to {number_text(key, bounds[1])}'


def numbers(result: dict, prefix: str = '') -> Iterator[tuple[str, Any, list | None]]:
    """``(key, number, its 95 % interval or None)`` of everything in a result that is a number or None, nested dicts joined by ``'/'``."""
    for key, value in result.items():
        if key in _ELSEWHERE and not prefix:
            continue
        if isinstance(value, dict):
            yield from numbers(value, f'{prefix}{key}/')
        elif value is None or (isinstance(value, (int, float)) and not isinstance(value, bool)):
            yield prefix + key, value, result.get(f'{key}_ci95')


def metric_rows(results: Sequence[dict]) -> list[Row]:
    """A row for each number of any of the results, in the order in which they come, with a cell for each result."""
    found = [{key: Cell(number_text(key, value), value, interval_text(key, bounds) if bounds else '')
              for key, value, bounds in numbers(result)} for result in results]  # yapf: disable
    keys = dict.fromkeys(key for cells in found for key in cells)
    return [Row(key, [cells.get(key, Cell('-')) for cells in found]) for key in keys]


def points_of(result: dict, prefix: str = '') -> Iterator[tuple[str, list[dict]]]:
    """``(key, operating points)`` of every list of them in a result."""
    for key, value in result.items():
        if isinstance(value, dict):
            yield from points_of(value, f'{prefix}{key}/')
        elif isinstance(value, list) and value and isinstance(value[0], dict) and {'far_target', 'fpir_target'} & set(value[0]):
            yield prefix + key, value
