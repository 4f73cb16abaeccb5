"""What every face metric does before its protocol: collect one embedding an image, over all ranks."""
from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from mmengine.dist import broadcast_object_list, is_main_process
from mmengine.evaluator import BaseMetric
from torch import Tensor

from .gather import gather_rows, rows_in_order


class EmbeddingMetric(BaseMetric):
    """Gathers raw float32 embeddings by ``sample_idx`` and hands them, in the order of the data set, to :meth:`compute`.

    The numbers do not depend on the batch size, the order of arrival or the number of ranks. An error on the first rank is raised on all:
    none is left waiting.

    A subclass says with ``meta_key`` under which name the data set's meta information holds the set (``name``, ``paths``, ...).

    Args:
        mirrored: whether samples also carry ``mirrored_embedding``, that of the mirrored image.
        collect_device: ``'cpu'``, or ``'gpu'`` to keep embeddings where they were made until they are gathered.
        prefix: what the names of the numbers start with. Default: the name of the set.
    """
    meta_key: str
    default_prefix = 'embedding'  # keeps MMEngine from warning; the set's name takes its place

    def __init__(self, mirrored: bool = False, collect_device: str = 'cpu', prefix: str | None = None) -> None:
        super().__init__(collect_device=collect_device)
        self.prefix = prefix
        self._fields = ('embedding', 'mirrored_embedding') if mirrored else ('embedding', )

    @abstractmethod
    def compute(self, evaluation_set: Any, embeddings: np.ndarray, mirrored: np.ndarray | None) -> dict[str, float]:
        """Numbers by name, from raw float32 [M, D] in the order of ``evaluation_set.paths``; runs on the first rank."""

    def process(self, data_batch: Any, data_samples: Sequence[dict]) -> None:
        """Keeps the embeddings of a batch: one tensor a batch, not an object a row.

        Raises:
            ValueError: samples without ``sample_idx`` or without an embedding that is needed.
        """
        missing = {'sample_idx', *self._fields} - set.intersection(*map(set, data_samples))
        if missing:
            raise ValueError(f'{type(self).__name__} needs samples with {sorted(missing)}, got {sorted(data_samples[0])}')
        rows = torch.cat([torch.stack([sample[field] for sample in data_samples]).float() for field in self._fields], 1)
        indices = torch.cat([sample['sample_idx'].reshape(1) for sample in data_samples])
        self.results.append((indices, rows) if self.collect_device == 'gpu' else (indices.cpu(), rows.cpu()))

    def evaluate(self, size: int) -> dict[str, float]:
        """Gathers and computes. The number of images comes from the set, not from ``size``.

        Raises:
            ValueError: an image without embedding, or with two different ones, or what the protocol refuses.
        """
        indices, rows = zip(*self.results, strict=True) if self.results else ([torch.zeros(0, dtype=torch.int64)], [torch.zeros(0, 0)])
        self.results.clear()
        gathered = gather_rows(torch.cat(indices), torch.cat(rows))
        outcome: list = [None, None]  # the numbers, or what went wrong
        failure = None
        if is_main_process():
            try:
                outcome[0] = self.compute_metrics([part.cpu() for part in gathered])
            except Exception as error:  # noqa: BLE001 (raised below, once the other ranks know)
                failure, outcome[1] = error, str(error)
        broadcast_object_list(outcome)
        if failure is not None:
            raise failure
        if outcome[1] is not None:
            raise ValueError(outcome[1])
        return outcome[0]

    def compute_metrics(self, results: list[Tensor]) -> dict[str, float]:
        """Numbers by prefixed name, from int64 [n] indices and their float32 [n, D] rows."""
        evaluation_set = (self.dataset_meta or {}).get(self.meta_key)
        if evaluation_set is None:
            raise ValueError(f'{type(self).__name__} needs a data set whose metainfo has {self.meta_key!r}, '
                             f'got {sorted(self.dataset_meta or {})}')
        indices, gathered = results
        rows = rows_in_order(indices, gathered, evaluation_set.paths).numpy()
        embeddings, mirrored = (rows, None) if len(self._fields) == 1 else np.split(rows, 2, 1)
        prefix = self.prefix or evaluation_set.name
        return {f'{prefix}/{key}': value for key, value in self.compute(evaluation_set, embeddings, mirrored).items()}
