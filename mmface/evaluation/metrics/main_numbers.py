"""What of a protocol's result goes into a log."""
from collections.abc import Iterator

from mmface.functional.operating_point import far_text

_LEFT_OUT = ('galleries', 'sizes', 'switches')  #: details that stay in the result
_RATES = dict(far='tar', fpir='tpir')


def main_numbers(result: dict) -> dict[str, float]:
    """Every number that has an interval, and every operating point that the trials can resolve, by names such as ``tpir@fpir=1e-2``.

    Numbers of a part are ``{part}/{name}``.
    """
    return {name: value for name, value, resolvable in _walk(result) if resolvable}


def unresolved(result: dict) -> list[str]:
    """The names of the operating points that the trials cannot resolve."""
    return [name for name, _, resolvable in _walk(result) if not resolvable]


def _walk(result: dict, prefix: str = '') -> Iterator[tuple[str, float, bool]]:
    for key, value in result.items():
        if f'{key}_ci95' in result:
            yield prefix + key, value, True
        elif isinstance(value, dict) and key not in _LEFT_OUT:
            yield from _walk(value, f'{prefix}{key}/')
        elif key.endswith(tuple(f'_at_{target}' for target in _RATES)):
            target = key.rpartition('_')[2]
            for point in value:
                name = f'{prefix}{_RATES[target]}@{target}={far_text(point[f"{target}_target"])}'
                yield name, point[_RATES[target]], point.get('resolvable', True)
