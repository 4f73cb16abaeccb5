"""What the pickle machine makes instead of the objects that a file names. Nothing here is copied out of the file before it is asked for."""
import codecs
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

_ESCAPE = re.compile(rb'\\(?:[\\\'"abfnrtv]|x[0-9a-fA-F]{2}|[0-3]?[0-7]{1,2})')


class Span(NamedTuple):
    """Bytes or text that stay where they are: ``data[start:stop]``, still encoded as ``kind`` says (a key of ``_DECODE``)."""
    kind: str
    start: int
    stop: int


class Global(NamedTuple):
    """A name of the short list, never looked up."""
    name: str


@dataclass
class Dtype:
    """Stands for ``numpy.dtype(code)``; ``order`` is ``<``, ``>`` or ``|``."""
    code: str
    order: str = '|'


@dataclass
class Array:
    """Stands for a NumPy array. ``data`` is a span or, for objects, a list; None until it is built."""
    shape: tuple = ()
    dtype: Dtype | None = None
    fortran: bool = False
    data: Any = None


def _unescape(raw: bytes) -> bytes:
    if b'\\' in _ESCAPE.sub(b'', raw):
        raise ValueError('a backslash that escapes nothing')
    return codecs.escape_decode(raw)[0]


_DECODE: dict[str, Callable[[bytes], bytes]] = {
    'bytes': lambda raw: raw,
    'repr': _unescape,  # as Python 2 wrote a str with protocol 0
    'latin1': lambda raw: raw.decode('utf-8').encode('latin-1'),  # as Python 3 writes bytes with protocols 0 to 2
    'str': lambda raw: raw,
}
_KINDS = {'bytes': 'bytes', 'repr': 'bytes', 'latin1': 'bytes', 'str': 'str'}


def decode(data: Any, span: Span) -> bytes:
    """The bytes that ``span`` stands for; of text, its UTF-8.

    Raises:
        ValueError: where the text in the file is not what its kind says.
    """
    return _DECODE[span.kind](data[span.start:span.stop])


def kind_of(value: Any) -> str:
    """What Python calls an object like ``value``, for messages: ``'str'``, ``'None'``, ``'an array of float64'``."""
    if value is None:
        return 'None'
    if type(value) is Span:
        return _KINDS[value.kind]
    return type(value).__name__.lower()
