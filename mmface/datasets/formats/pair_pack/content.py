"""What a pack of verification pairs holds, from the stand-ins that the pickle machine made of it."""
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from mmface.utils.pickles.values import Array, Span, decode, kind_of

from ..errors import DataFormatError, read_each

CONTENT = 'expected a pickle of (encoded images, same), two images a pair'


class PackContent(NamedTuple):
    """The images, still in the file, and bool ``[N]``, whether pair n (images 2n and 2n + 1) shows one person."""
    images: list[Span]
    same: np.ndarray


def take_apart(path: Path, data: Any, found: Any) -> PackContent:
    """Checks what the machine ``found`` in ``data``; ``path`` is for messages.

    Raises:
        DataFormatError: for anything but 2N encoded images and N flags, N > 0, with the image and the pair.
    """
    if type(found) not in (tuple, list):
        raise DataFormatError(path, value=f'not a verification pack but {kind_of(found)}', hint=CONTENT)
    if len(found) != 2:
        raise DataFormatError(path, value=f'expected 2 items, got {len(found)}', hint=CONTENT)
    items, flags = _as_sequence(path, data, found[0], 'images'), _as_sequence(path, data, found[1], 'flags')
    lengths: dict[Span, int] = {}
    images = read_each(lambda at: _as_span(path, data, at, items[at], lengths), range(len(items)))
    same = read_each(lambda at: _as_bool(path, at, flags[at]), range(len(flags)))
    if not images and not same:
        raise DataFormatError(path, value='no pairs', hint=CONTENT)
    if len(images) != 2 * len(same):
        plural = '' if len(same) == 1 else 's'
        raise DataFormatError(path, value=f'{len(images)} images for {len(same)} flag{plural}', hint=CONTENT)
    return PackContent(images, np.array(same))


def where_in_pack(index: int) -> str:
    """The place of an image in a pack, for messages."""
    return f'image {index} (pair {index // 2})'


def _as_sequence(path: Path, data: Any, value: Any, what: str) -> Sequence:
    """The items of a list or tuple, or of an array of objects, truth values or integers."""
    if type(value) in (list, tuple):
        return value
    if type(value) is not Array or value.dtype is None:
        raise DataFormatError(path, value=f'{what} are {kind_of(value)}', hint=CONTENT)
    items = value.data
    if value.dtype.code[0] in 'biu':
        try:
            items = np.frombuffer(decode(data, items), value.dtype.order + value.dtype.code).tolist()
        except ValueError as error:
            raise DataFormatError(path, value=f'{what} are a damaged array: {error}', hint=CONTENT) from None
    if type(items) is not list or value.shape not in ((len(items), ), (len(items), 1), (1, len(items))):
        raise DataFormatError(path, value=f'{what} are {_describe(value)}', hint=CONTENT)
    return items


def _as_span(path: Path, data: Any, index: int, item: Any, lengths: dict[Span, int]) -> Span:
    reason = ''
    if type(item) is Array:
        reason, item = _check_array(data, item, lengths), item.data
    if not reason and (type(item) is not Span or item.kind == 'str'):
        reason = f'is {kind_of(item)}'
    if not reason and item.start == item.stop:
        reason = 'empty, no image bytes'
    if reason:
        raise DataFormatError(path, where_in_pack(index), reason, 'expected an encoded image')
    return item


def _check_array(data: Any, array: Array, lengths: dict[Span, int]) -> str:
    """What is wrong with an array in place of bytes. ``lengths`` remembers those of text, which has to be decoded to know."""
    if array.dtype is None or array.dtype.code != 'u1':
        return f'is {_describe(array)}, not uint8'
    if len(array.shape) > 1 and 1 not in array.shape:
        return f'is {_describe(array)}: pixels, not an encoded image'
    if array.data not in lengths:
        try:
            lengths[array.data] = len(decode(data, array.data))
        except ValueError as error:
            return f'is broken text: {error}'
    if np.prod(array.shape, dtype=object) != lengths[array.data]:
        return f'shape and data length differ: {_describe(array)} and {lengths[array.data]} bytes'
    return ''


def _as_bool(path: Path, index: int, flag: Any) -> bool:
    if type(flag) not in (bool, int) or flag not in (0, 1):
        value = flag if type(flag) is int and abs(flag) < 1 << 63 else kind_of(flag)
        raise DataFormatError(path, f'flag {index}', f'is {value}', 'expected True or False')
    return bool(flag)


def _describe(array: Array) -> str:
    """For messages: ``'an array of float64, 4x6'``."""
    shape = 'x'.join(str(size) if size < 1 << 63 else 'huge' for size in array.shape)
    return f'an array of {np.dtype(array.dtype.code).name}, {shape}' if array.dtype else 'an array without data'
