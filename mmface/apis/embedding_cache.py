"""Embeddings that need not be computed twice."""
import hashlib
import json
import zipfile
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from mmface.utils.atomic_file import atomic_file
from mmface.utils.cache_folder import cache_folder
from mmface.version import __version__


class EmbeddingCache:
    """Rows of embeddings in a folder, found by what they were made from: the network, its input, and the bytes of the images.

    An entry has a checksum; a damaged one counts as absent and is written anew. Entries are never removed: the folder may be, at any time.

    Args:
        folder: by default ``embeddings`` in :func:`~mmface.utils.cache_folder.cache_folder`.
    """

    def __init__(self, folder: str | Path | None = None) -> None:
        self.folder = Path(folder) if folder is not None else cache_folder() / 'embeddings'

    def key(self, switches: dict, images: Iterable[bytes | memoryview | np.ndarray]) -> str:
        """SHA-256 over the switches, this version of mmface, and every image with its length, in their order."""
        digest = hashlib.sha256(json.dumps(dict(switches, mmface=__version__), sort_keys=True).encode())
        for image in images:
            data = np.ascontiguousarray(image if isinstance(image, np.ndarray) else memoryview(image))
            digest.update(f'{data.dtype.str} {data.shape} '.encode())
            digest.update(data.data)
        return digest.hexdigest()

    def get(self, key: str, rows: int) -> np.ndarray | None:
        """The entry, float32 [rows, D], or None where there is none that is whole."""
        try:
            with self._path(key).open('rb') as file, np.load(file, allow_pickle=False) as entry:
                found = entry['embeddings']
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
            return None
        return found if found.ndim == 2 and len(found) == rows and found.dtype == np.float32 else None

    def put(self, key: str, embeddings: np.ndarray) -> None:
        """Writes an entry, float32 [rows, D]."""
        with atomic_file(self._path(key)) as file:
            np.savez(file, embeddings=embeddings)

    def _path(self, key: str) -> Path:
        return self.folder / key[:2] / f'{key}.npz'
