"""The zoo for people to read."""
from collections.abc import Iterable

from ..entry import ModelEntry

_HEADER = """\
# All models of the zoo

Of each result the first number, in percent: accuracy, TAR at a FAR of 1e-4, or rank-1 rate; `mmface models info NAME` gives the rest with
protocol and source. What is theirs their authors trained, measured and published; none of their numbers was computed here. Multiply-adds
are those of one image.

"""
_TABLE = '| model | parameters | multiply-adds | training data | weights | results | whose |\n|---|---|---|---|---|---|---|'


def zoo_table(entries: Iterable[ModelEntry]) -> str:
    """A Markdown table, a line a model, with the first number of each of its results."""
    return _HEADER + '\n'.join([_TABLE, *(_line(entry) for entry in entries)])


def _line(entry: ModelEntry) -> str:
    parameters, flops = entry.metadata.get('Parameters'), entry.metadata.get('FLOPs')
    results = '; '.join(f'{result.dataset} {next(iter(result.metrics.values())):g}' for result in entry.results)
    name = f'`{entry.name}`' if entry.config is None else f'[`{entry.name}`](../{entry.config})'
    whose = 'ours' if entry.origin is None else f'[{entry.origin.project}]({entry.origin.url}): theirs'
    data = entry.metadata.get('Training Data', 'unknown')
    return f'| {name} | {_millions(parameters)} | {_millions(flops)} | {data} | {entry.status} | {results or "none"} | {whose} |'


def _millions(number: int | None) -> str:
    return '' if number is None else f'{number / 1e6:,.2f} M' if number < 1e9 else f'{number / 1e9:,.2f} G'
