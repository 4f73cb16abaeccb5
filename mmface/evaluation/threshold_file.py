"""``threshold.json``: the thresholds that an evaluation found, as a file that an exporter and a verifier take.

    {schema: 1, model_id, protocol_hash, set, score: 'cosine', rule: 'accept if s >= t',
     thresholds: [{far_target, far, similarity, tar, tar_ci95, genuine, impostors, false_accepts, resolvable}]}

``similarity`` is a cosine, or the text ``'inf'`` where the target allows to accept nothing.
"""
import json
import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mmface.utils.atomic_file import atomic_file

from .summary import plain_numbers

SCHEMA, SCORE, RULE = 1, 'cosine', 'accept if s >= t'


def threshold_record(result: dict, model_id: str) -> dict:
    """What the file holds, from the result of a protocol with ``tar_at_far``.

    Args:
        result: of a verification protocol.
        model_id: of the network whose embeddings it was, 64 hexadecimal digits.

    Raises:
        ValueError: a result without thresholds, or something that is no model id.
    """
    if 'tar_at_far' not in result:
        raise ValueError(f'the result on {result["set"]} has no thresholds for false accept rates')
    record = dict(
        schema=SCHEMA, model_id=model_id, protocol_hash=result['protocol_hash'], set=result['set'], score=SCORE, rule=RULE,
        thresholds=[{key: point[key] for key in _POINT} for point in result['tar_at_far']])
    _check(plain_numbers(record), 'the result')
    return record


def write_thresholds(record: dict, path: str | Path) -> None:
    """Writes a record of :func:`threshold_record`; the file appears when it is complete."""
    with atomic_file(Path(path)) as file:
        file.write((json.dumps(plain_numbers(record), indent=2, allow_nan=False) + '\n').encode())


def read_thresholds(path: str | Path, model_id: str | None = None) -> dict:
    """The record in a file, as it stands there, with every value checked.

    Args:
        path: the file.
        model_id: of the network that the thresholds are wanted for; None does not ask.

    Raises:
        OSError: no such file.
        ValueError: not such a file, a value of another kind or outside its range, or thresholds of another network; names file and value.
    """
    path = Path(path)
    try:
        record = json.loads(path.read_bytes())
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise ValueError(f'{path}: not JSON ({error}), expected what "mmface evaluate --thresholds" writes') from error
    _check(record, str(path))
    if model_id not in (None, record['model_id']):
        raise ValueError(f'{path}: its thresholds are of the network {record["model_id"]}, this one is {model_id}: '
                         'a threshold holds for no other network')
    return record


def _count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _share(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value <= 1


def _cosine(value: Any) -> bool:
    return value == 'inf' or (isinstance(value, (int, float)) and not isinstance(value, bool) and -1 <= value <= 1)


def _interval(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(map(_share, value)) and value[0] <= value[1]


def _sha256(value: Any) -> bool:
    return isinstance(value, str) and re.fullmatch('[0-9a-f]{64}', value) is not None


_Kind = tuple[Callable[[Any], bool], str]
_HEAD: dict[str, _Kind] = dict(
    schema=(lambda value: value == SCHEMA and _count(value), f'{SCHEMA}, the schema of this version'),
    model_id=(_sha256, '64 hexadecimal digits'),
    protocol_hash=(_sha256, '64 hexadecimal digits'),
    set=(lambda value: isinstance(value, str) and value != '', 'the name of a set'),
    score=(lambda value: value == SCORE, repr(SCORE)),
    rule=(lambda value: value == RULE, repr(RULE)),
    thresholds=(lambda value: isinstance(value, list) and value != [], 'a list with at least one threshold'))
_POINT: dict[str, _Kind] = dict(
    far_target=(_share, 'a fraction'), far=(_share, 'a fraction'), similarity=(_cosine, "a cosine, or 'inf'"), tar=(_share, 'a fraction'),
    tar_ci95=(_interval, 'two rising fractions'), genuine=(_count, 'a count'), impostors=(_count, 'a count'),
    false_accepts=(_count, 'a count'), resolvable=(lambda value: isinstance(value, bool), 'true or false'))


def _check(record: Any, where: str) -> None:
    _check_keys(record, _HEAD, where)
    for number, point in enumerate(record['thresholds']):
        place = f'{where}: threshold {number}'
        _check_keys(point, _POINT, place)
        if point['impostors'] < 1 or not math.isclose(point['far'], point['false_accepts'] / point['impostors'], abs_tol=1e-12):
            raise ValueError(f'{place}: {point["false_accepts"]} of {point["impostors"]} impostors are not a FAR of {point["far"]}')
    targets = [point['far_target'] for point in record['thresholds']]
    twice = next((target for target in targets if targets.count(target) > 1), None)
    if twice is not None:
        raise ValueError(f'{where}: two thresholds for the FAR {twice:g}')


def _check_keys(record: Any, kinds: dict[str, _Kind], where: str) -> None:
    if not isinstance(record, dict) or set(record) != set(kinds):
        found = sorted(record) if isinstance(record, dict) else type(record).__name__
        raise ValueError(f'{where}: expected the keys {", ".join(kinds)}, found {found}')
    for key, (fits, expected) in kinds.items():
        if not fits(record[key]):
            raise ValueError(f'{where}: {key} is {record[key]!r}, expected {expected}')
