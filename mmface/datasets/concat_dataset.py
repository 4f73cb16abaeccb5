"""Several training sets as one."""
from collections.abc import Sequence
from typing import Any

import numpy as np

from mmface.registry import DATASETS

from .face_dataset import FaceDataset
from .formats import DataFormatError
from .image_dataset import ImageDataset


@DATASETS.register_module()
class ConcatDataset(ImageDataset):
    """The images of K sets, one set after the other, each through its own pipeline.

    A sample's randomness comes from (seed, epoch, position in the whole), so the contracts with samplers and resuming are those of
    :class:`FaceDataset`. An image that cannot be used is the business of its own set (``on_error``), which replaces it by one of its own.

    Attributes:
        datasets: the K sets.
        labels: int64 ``[N]``, which person of all sets each image shows, for samplers; with ``label_spaces='joint'`` also the classes.
        metainfo: ``num_classes``, the sum, and ``classes`` (``'k/name'`` -> label) where all sets name theirs; with
            ``label_spaces='separate'`` lists of what each set says.

    Args:
        datasets: ``FaceDataset``s or configs of them, whose pipelines end with ``PackFace``.
        label_spaces: ``'joint'`` counts the classes of each set on from those of the sets before, for one head; ``'separate'`` leaves
            labels as they are and adds ``source`` to each sample, int64, the number of the set: for a model that has a head a set.
        num_classes: the classes that the one head has; by default the sum.
        seed: of the pipelines' randomness; those of the sets are not used.

    Raises:
        ValueError: for no set, a pipeline without ``PackFace``, or another ``label_spaces``.
        DataFormatError: where ``num_classes`` is less than the sum; names the set that goes beyond it.
    """

    def __init__(self,
                 datasets: Sequence[dict | FaceDataset],
                 label_spaces: str = 'joint',
                 num_classes: int | None = None,
                 seed: int = 0) -> None:
        if label_spaces not in ('joint', 'separate'):
            raise ValueError(f"label_spaces is 'joint' or 'separate', got {label_spaces!r}")
        self.datasets = [DATASETS.build({'type': 'FaceDataset', **d}) if isinstance(d, dict) else d for d in datasets]
        bare = [at for at, dataset in enumerate(self.datasets) if not dataset.pipeline.packs_batches]
        if bare or not self.datasets:
            raise ValueError(f'ConcatDataset needs data sets whose pipelines end with PackFace; not so: {bare or "there is none"}')
        self.joint, self.seed = label_spaces == 'joint', seed
        self.pipeline = self.datasets[0].pipeline  # for packing alone
        self._ends = np.cumsum([len(dataset) for dataset in self.datasets])
        counts = [dataset.metainfo['num_classes'] for dataset in self.datasets]
        self._offsets = np.cumsum([0, *counts[:-1]]).tolist()
        self.labels = np.concatenate([dataset.labels + offset for dataset, offset in zip(self.datasets, self._offsets, strict=True)])
        beyond = [at for at, end in enumerate(np.cumsum(counts)) if num_classes is not None and end > num_classes]
        if beyond and self.joint:
            raise DataFormatError(self.datasets[beyond[0]].records.path, 'labels', f'{sum(counts)} classes of all sets together',
                                  f'num_classes={num_classes} of the head has no room for them; set it to {sum(counts)}')
        self.metainfo: dict[str, Any] = dict(num_classes=(num_classes or sum(counts)) if self.joint else counts)
        names = [dataset.metainfo['classes'] for dataset in self.datasets if 'classes' in dataset.metainfo]
        if len(names) == len(self.datasets):
            self.metainfo['classes'] = self._join(names) if self.joint else names

    def __len__(self) -> int:
        return int(self._ends[-1])

    def load(self, at: int) -> dict:
        which, inner = self._locate(at)
        return self._relabel(self.datasets[which].load(inner), which, at)

    def transformed(self, at: int, seeds: tuple[int, int, int] | None) -> Any:
        which, inner = self._locate(at)
        results = self.datasets[which].transformed(inner, seeds)
        return self._relabel(results, which, results['sample_idx'] + at - inner)

    def _locate(self, at: int) -> tuple[int, int]:
        """The number of the set, and the position in it, of image ``at``."""
        which = int(np.searchsorted(self._ends, at, side='right'))
        return which, at - (int(self._ends[which - 1]) if which else 0)

    def _relabel(self, results: dict, which: int, at: int) -> dict:
        results['sample_idx'] = at
        if self.joint:
            results['gt_label'] += self._offsets[which]
        else:
            results['source'] = which
        return results

    def _join(self, names: list[dict[str, int]]) -> dict[str, int]:
        return {
            f'{which}/{name}': label + offset
            for which, (classes, offset) in enumerate(zip(names, self._offsets, strict=True)) for name, label in classes.items()
        }
