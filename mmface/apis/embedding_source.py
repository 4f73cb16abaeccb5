"""Where the embeddings of an evaluation set come from: a network, or a file that somebody wrote."""
import copy
import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable
from pathlib import Path

import numpy as np

from mmface.datasets import EvalDataset
from mmface.datasets.formats.embeddings import read_embeddings
from mmface.datasets.pipeline import build_pipeline
from mmface.utils.progress import Progress

from .embed_dataset import embed_dataset
from .embedding_cache import EmbeddingCache
from .open_embedder import Embedder

FILES = ('.npy', '.npz', '.safetensors')  #: what files of embeddings are called


class EmbeddingSource(ABC):
    """A model under evaluation.

    Attributes:
        path: its file; reports call it after that.
        model_id: the identity of the network, or None where the embeddings do not say which it was.
    """
    path: Path
    model_id: str | None = None

    @property
    def name(self) -> str:
        """What reports call it."""
        return self.path.stem

    @abstractmethod
    def describe(self) -> dict:
        """What it is, in plain values."""

    @abstractmethod
    def embed(self, dataset: EvalDataset, mirrored: bool) -> tuple[np.ndarray, np.ndarray | None]:
        """Raw embeddings [M, D] in the order of the set and, where asked for, those of the mirrored images."""

    def images(self, dataset: EvalDataset) -> Callable[[int], np.ndarray] | None:
        """What gives image i as the network sees it, uint8 RGB [H, W, 3]; None where there is no network to look through."""
        return None


class NetworkSource(EmbeddingSource):
    """A network. Loose crops of a set with landmarks are aligned to the network's template and size.

    Args:
        embedder: the network.
        batch_size: images at a time.
        cache: see :func:`~mmface.apis.embed_dataset.embed_dataset`.
    """

    def __init__(self, embedder: Embedder, batch_size: int = 64, cache: EmbeddingCache | None = None) -> None:
        self.embedder, self.batch_size, self.cache = embedder, batch_size, cache
        self.path = embedder.path

    @property
    def model_id(self) -> str:
        """Worked out from the file."""
        return self.embedder.model_id

    def describe(self) -> dict:
        return self.embedder.describe()

    def embed(self, dataset: EvalDataset, mirrored: bool) -> tuple[np.ndarray, np.ndarray | None]:
        dataset = self._seen(dataset)
        with Progress(f'{self.name} on {dataset.images.set.name}', len(dataset)) as progress:
            return embed_dataset(self.embedder, dataset, mirrored, self.batch_size, progress.advance, self.cache)

    def images(self, dataset: EvalDataset) -> Callable[[int], np.ndarray] | None:
        seen = self._seen(dataset)
        return lambda at: seen[at]['inputs'].numpy().transpose(1, 2, 0)

    def _seen(self, dataset: EvalDataset) -> EvalDataset:
        """The data set as this network wants it."""
        loose = getattr(dataset.images.set, 'landmarks', None) is not None
        align = [dict(type='AlignFace', size=self.embedder.size, template=self.embedder.template)] if loose else []
        seen = copy.copy(dataset)
        seen.pipeline = build_pipeline([dict(type='DecodeFace'), *align, dict(type='PackFace')])
        return seen


class FileSource(EmbeddingSource):
    """Embeddings in a file, see :func:`~mmface.datasets.formats.embeddings.read_embeddings`.

    Args:
        path: the file.
        names: a text file with the name of an image a line, for a file without names; else rows are in the order of the set.
        split: the columns are original and mirrored embedding side by side.
    """

    def __init__(self, path: str | Path, names: str | Path | None = None, split: bool = False) -> None:
        self.path, self.rows = Path(path), read_embeddings(path, split, names)

    def describe(self) -> dict:
        rows, sha256 = self.rows, hashlib.sha256(self.path.read_bytes()).hexdigest()
        return dict(path=str(self.path), sha256=sha256, embeddings=list(rows.embeddings.shape), mirrored=rows.mirrored is not None)

    def embed(self, dataset: EvalDataset, mirrored: bool) -> tuple[np.ndarray, np.ndarray | None]:
        rows = self.rows.in_order_of(dataset.images.set.paths)
        if mirrored and rows.mirrored is None:
            raise ValueError(f'{self.path}: the protocol uses mirrored images, but the file has none of their embeddings')
        return rows.embeddings, rows.mirrored if mirrored else None
