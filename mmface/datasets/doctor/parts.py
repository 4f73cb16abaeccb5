"""Files that belong to a set, or become one, and can be examined by themselves. Each is read by the function that reads it in its set."""
from pathlib import Path

from ..formats.common.folder_walk import SUFFIXES
from ..formats.embeddings import read_embeddings
from ..formats.megaface import MegaFace, read_feature_list
from ..formats.megaface_features import read_megaface_feature
from ..formats.table import FormatTable

PARTS: FormatTable = FormatTable('a part of a set')
_IMAGES = (*SUFFIXES, '.heic', '.heif', '.avif')  # the last are not read, which decoding says
_CV_32F = 5


@PARTS.register('images')
class Images:
    """An image, or a folder that holds nothing but images."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.files = _visible(path) if path.is_dir() else ['']

    @staticmethod
    def sniff(path: Path) -> bool:
        if path.is_file():
            return path.suffix.lower() in _IMAGES
        names = _visible(path)
        return bool(names) and all(name.lower().endswith(_IMAGES) for name in names)

    def __len__(self) -> int:
        return len(self.files)

    def read(self, index: int) -> bytes:
        return (self.path / self.files[index]).read_bytes()

    def where(self, index: int) -> str:
        return self.files[index]


@PARTS.register('embeddings')
class Embeddings:
    """A file of embeddings."""

    def __init__(self, path: Path) -> None:
        read_embeddings(path)

    @staticmethod
    def sniff(path: Path) -> bool:
        return path.is_file() and path.suffix in ('.npy', '.npz', '.safetensors')


@PARTS.register('megaface_list')
class MegaFaceList:
    """One of the lists of MegaFace's development kit."""

    def __init__(self, path: Path) -> None:
        read_feature_list(path)

    @staticmethod
    def sniff(path: Path) -> bool:
        return path.is_file() and '.json' in path.suffix and not MegaFace.sniff(path)


@PARTS.register('megaface_feature')
class MegaFaceFeature:
    """One of the feature files of MegaFace's development kit."""

    def __init__(self, path: Path) -> None:
        read_megaface_feature(path)

    @staticmethod
    def sniff(path: Path) -> bool:
        """By the header of a column, whose type may be another than float32, or in the other byte order; packs begin otherwise."""
        if path.suffix != '.bin' or not path.is_file():
            return False
        with path.open('rb') as file:
            head = file.read(16)
        numbers = [[int.from_bytes(head[at:at + 4], order) for at in (4, 12)] for order in ('little', 'big')]
        return len(head) == 16 and any(0 < columns < 256 and kind <= _CV_32F + 2 for columns, kind in numbers)


def _visible(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir() if not entry.name.startswith('.'))
