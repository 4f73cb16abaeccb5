"""Training sets in the tar shards of the ``webdataset`` library, with random access."""
import mmap
import re
import tarfile
import warnings
from bisect import bisect_right
from concurrent.futures import ProcessPoolExecutor
from functools import lru_cache
from itertools import repeat
from pathlib import Path
from typing import Any

import numpy as np

from mmface.utils.dependency import require_extra
from mmface.utils.progress import Progress

from ..common.class_names import read_class_names
from ..common.class_numbers import class_numbers
from ..common.class_sizes import log_class_sizes
from ..common.column_cache import cached_columns
from ..errors import DataFormatError, DataFormatWarning, is_collecting, read_each
from ..table import RECORDS
from .index import ShardIndex, index_shard

_OPEN_SHARDS = 128
_MANY_SHARDS = 16
_ANY = 1 << 31  # a class number that none reaches


@RECORDS.register('webdataset')
class TarShards:
    """Tar files of samples ``KEY.jpg`` (or another image) with ``KEY.cls`` (a number) or ``KEY.json`` (an object with a label).

    What belongs to a sample is webdataset's rule: members in a row whose names are equal up to the first dot. The headers are read when
    the set is opened; the images are then slices of memory-mapped files, in any order. Nothing is unpickled: a pickled member is refused.

    Attributes:
        path: what was opened.
        shards: the files, in the order of their names or of the pattern.
        labels: int64 ``[N]``, in ``[0, num_classes)``.
        num_classes: the largest label + 1, or more where ``classes.tsv`` beside the shards (label TAB name) has more.
        classes: name -> label, where that file is there, else None.

    Args:
        path: a tar, a folder of them, or a pattern like ``train-{000000..000099}.tar``.
        label: the label's key in a ``.json``.

    Raises:
        DataFormatError: naming shard and member.
        ImportError: without webdataset, naming the extra.
    """
    def __init__(self, path: Path, label: str = 'label') -> None:
        require_extra('webdataset', f'{path.name} in tar shards')
        self.path, self.shards = path, _list_shards(path)
        columns = cached_columns(f'webdataset {label}', self.shards, lambda: _index(path, self.shards, label))
        self._starts, self._offsets, self._sizes = columns['starts'].tolist(), columns['offsets'], columns['sizes']
        self._map = lru_cache(_OPEN_SHARDS)(self._map_shard)
        self.labels = class_numbers(path, self.where, columns['labels'])
        self.classes = read_class_names(path if path.is_dir() else path.parent, _ANY)
        self.num_classes = 1 + max([int(self.labels.max()), *(self.classes or {}).values()])
        log_class_sizes(path, self.labels, self.num_classes)

    @staticmethod
    def sniff(path: Path) -> bool:
        return path.suffix == '.tar' or (path.is_dir() and any(path.glob('*.tar')))

    @staticmethod
    def is_pattern(path: Path) -> bool:
        """Whether a path that does not exist stands for several."""
        return path.suffix == '.tar' and '{' in path.name

    def __len__(self) -> int:
        return len(self.labels)

    def read(self, index: int) -> memoryview:
        start = int(self._offsets[index])
        return self._map(self._shard(index))[start:start + int(self._sizes[index])]

    def where(self, index: int) -> str:
        shard, block = self._shard(index), int(self._offsets[index]) - tarfile.BLOCKSIZE
        header = tarfile.TarInfo.frombuf(bytes(self._map(shard)[block:block + tarfile.BLOCKSIZE]), 'utf-8', 'surrogateescape')
        return f'{self.shards[shard].name} {header.name}'

    def _shard(self, index: int) -> int:
        return bisect_right(self._starts, index) - 1

    def _map_shard(self, shard: int) -> memoryview:
        with self.shards[shard].open('rb') as file:
            return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != '_map'}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._map = lru_cache(_OPEN_SHARDS)(self._map_shard)


def _list_shards(path: Path) -> list[Path]:
    if path.is_file():
        return [path]
    if path.is_dir():
        shards = sorted(path.glob('*.tar'))
        _warn_of_gaps(path, shards)
        return shards
    from webdataset.shardlists import expand_urls
    shards = [Path(name) for name in expand_urls(str(path))]
    missing = [shard.name for shard in shards if not shard.is_file()]
    if missing:
        raise DataFormatError(path, value=f'{len(missing)} of {len(shards)} shards missing',
                              hint=', '.join(missing[:5]) + ' ...' * (len(missing) > 5))
    return shards


def _index(path: Path, shards: list[Path], label: str) -> dict[str, np.ndarray]:
    """The columns of all shards, and the first sample of each; several processes look at many shards."""
    with Progress(f'shards of {path.name}', len(shards), 'shards') as progress:

        def take(shard: ShardIndex) -> ShardIndex:
            progress.advance()
            return shard

        if len(shards) < _MANY_SHARDS or is_collecting():  # whose listener is in this process
            found = read_each(lambda shard: take(index_shard(shard, label)), shards)
        else:
            with ProcessPoolExecutor() as pool:
                found = list(map(take, pool.map(index_shard, shards, repeat(label))))
    open_ended = [shard.name for shard, index in zip(shards, found, strict=True) if not index.ended]
    if open_ended:
        value = f'no end-of-archive mark in {len(open_ended)} of {len(shards)} shards'
        warnings.warn(DataFormatWarning(path, open_ended[0], value, 'if samples are missing, copy them again'), stacklevel=4)
    offsets, sizes, labels = (np.concatenate(column) for column in list(zip(*found, strict=True))[:3])
    return dict(offsets=offsets, sizes=sizes, labels=labels, starts=np.cumsum([0, *(len(index.labels) for index in found)]))


def _warn_of_gaps(path: Path, shards: list[Path]) -> None:
    numbers = sorted(int(match[1]) for shard in shards if (match := re.search(r'([0-9]+)\.tar$', shard.name)))
    missing = sorted(set(range(numbers[0], numbers[-1])) - set(numbers)) if len(numbers) == len(shards) > 1 else []
    if missing:
        warnings.warn(DataFormatWarning(path, value=f'{len(shards)} shards up to number {numbers[-1]}', hint=f'{len(missing)} numbers are '
                                        f'missing, the first is {missing[0]}'), stacklevel=3)
