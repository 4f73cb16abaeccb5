"""A protocol's result for people and for programs."""
import json
import math
from collections.abc import Iterator
from typing import Any

from mmface.functional.intervals import clopper_pearson_interval, rule_of_three
from mmface.functional.operating_point import far_text

_WIDTH = 34
_LAST = ('switches', 'protocol_hash')
_LABELS = dict(
    accuracy_std='accuracy, standard deviation', accuracy_se='accuracy, standard error', auc='AUC', eer='EER', eer_cross='EER, crossing')
_POINTS = (('far', 'tar', 'false_accepts', 'impostors'), ('fpir', 'tpir', 'false_alarms', 'nonmated'))
_COSINES, _FACTORS = ('threshold', 'similarity'), ('ratio', 'over_best')


def plain_numbers(value: Any) -> Any:
    """Lists and dicts for standard JSON, which knows no infinity: an infinite number becomes the string ``'inf'`` or ``'-inf'``."""
    if isinstance(value, dict):
        return {key: plain_numbers(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain_numbers(item) for item in value]
    return str(value) if isinstance(value, float) and math.isinf(value) else value


def result_json(result: dict) -> str:
    """A result as standard JSON, see :func:`plain_numbers`."""
    return json.dumps(plain_numbers(result), indent=2, allow_nan=False) + '\n'


def result_summary(result: dict) -> str:
    """The lines to print for a result of any protocol: the model, every number with its interval, and every switch behind them.

    Lists of plain numbers, such as the accuracies of single folds, are in the JSON alone. What a protocol did not measure (None) is said.
    """
    lines = [(name, str(value)) for name, value in result.get('model', {}).items()]
    lines += _lines({key: value for key, value in result.items() if key not in ('model', *_LAST)})
    lines.append(('switches', ', '.join(f'{name}={value}' for name, value in result['switches'].items())))
    lines.append(('protocol', f'sha256 {result["protocol_hash"]}'))
    width = max(_WIDTH, *(len(name) + 2 for name, _ in lines))
    return '\n'.join(f'{name:<{width}}{text}' for name, text in lines)


def number_text(key: str, value: float) -> str:
    """A count, a cosine, a factor, an area, or else a share in percent: the last part of its key says which."""
    if isinstance(value, int):
        return f'{value:,}'
    if key.endswith(_COSINES):
        return f'cosine {value:.4f}'
    if key.endswith(_FACTORS):
        return f'{value:.2f} times'
    return f'{value:.5f}' if key.startswith('auc') else f'{value:.2%}'


def _lines(result: dict, prefix: str = '') -> Iterator[tuple[str, str]]:
    for key, value in result.items():
        label = prefix + _LABELS.get(key, key.replace('_', ' '))
        if isinstance(value, dict):
            yield from _lines(value, f'{label}, ')
        elif isinstance(value, str):
            yield label, value
        elif isinstance(value, bool):
            yield label, 'yes' if value else 'no'
        elif isinstance(value, (int, float)):
            bounds = result.get(f'{key}_ci95')
            yield label, number_text(key, value) + (f'  ({_span(key, bounds)})' if bounds else '')
        elif value is None:
            yield label, 'not measured'
        elif value and isinstance(value[0], dict):
            yield from ((prefix + name, text) for name, text in map(_point, value))


def _span(key: str, bounds: list[float]) -> str:
    return f'{number_text(key, bounds[0])} to {number_text(key, bounds[1])}'


def _point(point: dict) -> tuple[str, str]:
    """An operating point, of the verification or of the open-set kind."""
    target, rate, errors, trials = next(kind for kind in _POINTS if f'{kind[0]}_target' in point)
    text = f'{point[rate]:.2%}' + (f'  ({_span(rate, point[f"{rate}_ci95"])})' if f'{rate}_ci95' in point else '')
    if errors in point:
        text += f', {point[errors]:,} of {point[trials]:,} {trials} ({_bounds(point[errors], point[trials])})'
        text += f', cosine {point["similarity"]:.4f}'
    if not point.get('resolvable', True):
        text += f'  [too few {trials} for this {target.upper()}]'
    return f'{rate.upper()}@{target.upper()}={far_text(point[f"{target}_target"])}', text


def _bounds(errors: int, trials: int) -> str:
    """How far the share of errors can be trusted: by the rule of three where there is none."""
    if not errors:
        return f'below {rule_of_three(trials):.2%} by the rule of three'
    low, high = clopper_pearson_interval(errors, trials)
    return f'{errors / trials:.2%}, {low:.2%} to {high:.2%}'
