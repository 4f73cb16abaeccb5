"""InsightFace's ``.bin`` packs of verification pairs: ``lfw.bin``, ``cfp_fp.bin``, ``agedb_30.bin`` ..."""
import mmap
from pathlib import Path

import numpy as np

from mmface.structures import PairSet
from mmface.utils.pickles.machine import PickleMachine
from mmface.utils.pickles.values import decode

from ..common.folds import contiguous_folds
from ..common.placeholders import refuse_placeholder
from ..errors import DataFormatError
from ..pickles.opcodes import OPCODES
from ..table import EVALS
from .content import CONTENT, take_apart, where_in_pack

_BEGINNINGS = (b'\x80', b'(', b']')


@EVALS.register('bin')
class PairPack:
    """2N encoded images, of which 2n and 2n + 1 are pair n, and N flags, in every dialect of pickle that writers have used.

    Nothing is unpickled: see :class:`PickleMachine`. The file is memory-mapped, and images stay in it until they are read. Packs name no
    folds; those of LFW and its relatives lie in them one after the other, so the folds are contiguous tenths, by the rule of
    :func:`contiguous_folds`. They name no people either: ``set.identities`` is None.

    Args:
        path: the ``.bin``.
        name: what results are called after; by default the file's name.

    Raises:
        DataFormatError: at once for whatever is wrong with the pickle, a flag or the kind of an image, naming image and pair; when it is
            read for an image that was written as text and is none.
    """

    def __init__(self, path: Path, name: str | None = None) -> None:
        self.path = path
        if not path.stat().st_size:
            raise DataFormatError(path, value='empty', hint='copy it again')
        self._data = self._map()
        refuse_placeholder(path, self._data[:64])
        if self._data[:1] not in _BEGINNINGS:
            raise DataFormatError(path, value=f'not a verification pack, it begins with {self._data[:16]!r}', hint=CONTENT)
        self._images, same = take_apart(path, self._data, PickleMachine(self._data, OPCODES, path).run())
        self.set = PairSet(
            name=name or path.stem,
            paths=[f'{path}#{at}' for at in range(len(self))],
            pairs=np.arange(len(self)).reshape(-1, 2),
            same=same,
            fold=contiguous_folds(len(same)))

    @staticmethod
    def sniff(path: Path) -> bool:
        return path.suffix == '.bin' and path.is_file()

    def __len__(self) -> int:
        return len(self._images)

    def read(self, index: int) -> bytes | memoryview:
        """The encoded image ``index``, without a copy where it is stored as it is."""
        image = self._images[index]
        if image.kind == 'bytes':
            return memoryview(self._data)[image.start:image.stop]
        try:
            return decode(self._data, image)
        except ValueError as error:
            raise DataFormatError(self.path, self.where(index), f'broken text: {error}', 'the file is damaged: copy it again') from None

    def where(self, index: int) -> str:
        return where_in_pack(index)

    def __getstate__(self) -> dict:
        return {name: value for name, value in vars(self).items() if name != '_data'}

    def __setstate__(self, state: dict) -> None:
        self.__dict__.update(state)
        self._data = self._map()

    def _map(self) -> mmap.mmap:
        with self.path.open('rb') as file:
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
