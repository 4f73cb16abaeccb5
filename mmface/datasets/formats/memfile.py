"""AdaFace's validation sets: pixels in a memory file, ``<set>/memfile/mem_file.dat``, and ``<set>_list.npy``."""
import json
import math
from pathlib import Path
from typing import Any

import numpy as np

from mmface.structures import PairSet

from .common.folds import contiguous_folds
from .errors import DataFormatError
from .pair_pack.content import where_in_pack
from .table import EVALS

_JOINED = 'concat_validation_memfile'
_ORDER = ('agedb_30', 'cfp_fp', 'lfw', 'cplfw', 'calfw')
_FLOATS = ('float16', 'float32', 'float64')
_TOLERANCE = .05  # levels of 255; float16 is off by .03 at most, float32 by 1e-5
_MOST_TEXT = 1 << 16
_CONF = 'expected {"shape": [images, 3, height, width], "dtype": "float32"}'


@EVALS.register('memfile')
class MemFile:
    """2N images as arrays of floats, of which 2n and 2n + 1 are pair n, and N flags.

    The pixels are BGR, ``(x / 255 - .5) / .5`` for x in 0 ... 255; ``read`` gives them back exactly as they were. Folds are contiguous
    tenths, as in the packs that these files are made from, see :func:`contiguous_folds`. The file is memory-mapped.

    Args:
        path: ``mem_file.dat``, its folder or the folder of the set; or ``concat_validation_memfile``, which has the five sets agedb_30,
            cfp_fp, lfw, cplfw and calfw one after the other.
        name: what results are called after; by default the set's folder. Of the file with five sets it chooses one.
        issame: the list; by default ``<set>_list.npy`` beside the set's folder, or beside the file with five sets.

    Raises:
        DataFormatError: for a ``.conf`` that is missing or broken, a size that is not what it says, in either direction, objects instead of
            floats, or flags that do not fit; when an image is read, for values that are no pixels.
    """

    def __init__(self, path: Path, name: str | None = None, issame: str | Path | None = None) -> None:
        self.path = _data_file(path)
        self._shape, self._dtype = _read_conf(self.path)
        if self.path.name == _JOINED:
            name, self._first, same = _choose(self.path, name, self._shape[0])
        else:
            folder = self.path.parent.parent if self.path.parent.name == 'memfile' else self.path.parent
            name = name or folder.name
            self._first, same = 0, _read_flags(Path(issame or folder.with_name(f'{folder.name}_list.npy')))
            _check_count(self.path, 2 * len(same), self._shape[0])
        self._pixels = self._map()
        self.set = PairSet(
            name=name,
            paths=[f'{self.path}#{self._first + at}' for at in range(2 * len(same))],
            pairs=np.arange(2 * len(same)).reshape(-1, 2),
            same=same,
            fold=contiguous_folds(len(same)))

    @staticmethod
    def sniff(path: Path) -> bool:
        return _data_file(path).is_file()

    def __len__(self) -> int:
        return len(self.set.paths)

    def read(self, index: int) -> np.ndarray:
        """The pixels of image ``index``, uint8 ``[H, W, 3]``, RGB."""
        levels = (self._pixels[self._first + range(len(self))[index]].astype(np.float64) * .5 + .5) * 255
        pixels = np.rint(levels)
        if not (np.abs(levels - pixels) <= _TOLERANCE).all() or pixels.min() < 0 or pixels.max() > 255:
            raise DataFormatError(self.path, self.where(index), f'values from {levels.min():g} to {levels.max():g} of 255 levels',
                                  'expected (x / 255 - .5) / .5 of whole numbers x from 0 to 255')
        return np.ascontiguousarray(pixels[::-1].transpose(1, 2, 0), np.uint8)

    def where(self, index: int) -> str:
        return where_in_pack(index)

    def __getstate__(self) -> dict:
        return {name: value for name, value in vars(self).items() if name != '_pixels'}

    def __setstate__(self, state: dict) -> None:
        self.__dict__.update(state)
        self._pixels = self._map()

    def _map(self) -> np.ndarray:
        return np.memmap(self.path, self._dtype, 'r', shape=self._shape).view(np.ndarray)


def _data_file(path: Path) -> Path:
    """Where the pixels are."""
    if not path.is_dir():
        return path if path.name in (_JOINED, 'mem_file.dat') else path / 'mem_file.dat'
    candidates = (path / 'memfile' / 'mem_file.dat', path / _JOINED)
    return next((file for file in candidates if file.is_file()), path / 'mem_file.dat')


def _read_conf(path: Path) -> tuple[tuple[int, int, int, int], str]:
    """The shape and type that the ``.conf`` beside the file says, which nothing else does."""
    conf = path.with_name(path.name + '.conf')
    if not conf.is_file():
        raise DataFormatError(conf, value='no such file', hint='it alone says how many images there are, and of what size')
    with conf.open('rb') as file:
        text = file.read(_MOST_TEXT)
    try:
        content: Any = json.loads(text)
    except ValueError as error:
        raise DataFormatError(conf, value=f'JSON error: {error}', hint=_CONF) from None
    shape, dtype = (content.get(key) for key in ('shape', 'dtype')) if isinstance(content, dict) else (None, None)
    if dtype not in _FLOATS:
        raise DataFormatError(conf, value=f'dtype {dtype}', hint=f'expected {", ".join(_FLOATS)}')
    if not (isinstance(shape, list) and len(shape) == 4 and all(type(size) is int and size > 0 for size in shape) and shape[1] == 3):
        raise DataFormatError(conf, value=f'shape {shape}', hint='expected images, 3, height, width')
    needed, found = math.prod(shape) * np.dtype(dtype).itemsize, path.stat().st_size
    if needed != found:
        raise DataFormatError(path, value=f'needs {needed} bytes, file has {found}', hint=f'{conf.name} says shape {shape} of {dtype}')
    return (shape[0], shape[1], shape[2], shape[3]), dtype


def _read_flags(path: Path) -> np.ndarray:
    """Whether the images of each pair show one person, bool ``[N]``."""
    if not path.is_file():
        raise DataFormatError(path, value='no such file', hint='the list of flags is named <set>_list.npy; say where it is with issame=')
    try:
        flags = np.load(path, mmap_mode='r', allow_pickle=False)
    except (ValueError, EOFError) as error:
        raise DataFormatError(path, value='truncated or no array of flags', hint=str(error)) from None
    if flags.ndim != 1 or flags.dtype.kind not in 'biu' or not len(flags) or not np.isin(flags, (0, 1)).all():
        raise DataFormatError(path, value=f'array {list(flags.shape)} of {flags.dtype}', hint='expected one True or False a pair')
    return np.array(flags, bool)


def _choose(path: Path, name: str | None, images: int) -> tuple[str, int, np.ndarray]:
    """Of the file with five sets: the name, the first image and the flags of one."""
    if name not in _ORDER:
        raise DataFormatError(path, value=f'five sets in one file, name={name!r}', hint=f'choose with name= one of {", ".join(_ORDER)}')
    flags = [_read_flags(path.with_name(f'{each}_list.npy')) for each in _ORDER]
    _check_count(path, 2 * sum(map(len, flags)), images)
    at = _ORDER.index(name)
    return name, 2 * sum(map(len, flags[:at])), flags[at]


def _check_count(path: Path, needed: int, images: int) -> None:
    if needed != images:
        raise DataFormatError(path, value=f'{images} images, {needed // 2} flags', hint='expected two images a flag')
