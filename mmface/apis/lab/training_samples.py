"""A few training images as the network meets them, without augmentation."""
from typing import NamedTuple

import numpy as np
import torch
from mmengine.config import Config
from mmengine.registry import DefaultScope
from torch import Tensor

from mmface.datasets.decode import decode_image
from mmface.datasets.image_dataset import ImageDataset
from mmface.datasets.pipeline import build_pipeline
from mmface.registry import DATASETS


class TrainingSamples(NamedTuple):
    """N images of a training set.

    Attributes:
        places: int64 ``[N]``, where in the set they are.
        labels: int64 ``[N]``.
        images: uint8 ``[N, 3, H, W]``, RGB, as the network eats them.
        dataset: the set.
    """
    places: np.ndarray
    labels: Tensor
    images: Tensor
    dataset: ImageDataset

    def picture(self, row: int) -> np.ndarray:
        """One of them as it lies in the set, RGB uint8 ``[H, W, 3]``."""
        return decode_image(self.dataset.load(int(self.places[row]))['img_bytes'])


def draw_training_samples(config: Config, count: int, seed: int = 0) -> TrainingSamples:
    """Draws images of a config's training set that have a label, without replacement, in the order of the set.

    They go through the set's pipeline without the transforms that say that they draw at random.

    Args:
        config: of a training.
        count: how many; all, where the set has no more.
        seed: of the draw.

    Raises:
        ValueError: for no training set, or one without labelled images.
        DataFormatError: for damaged data.
    """
    loader = config.get('train_dataloader')
    if not loader:
        raise ValueError(f'{config.filename} has no train_dataloader: there are no training images to look at')
    with DefaultScope.overwrite_default_scope(config.get('default_scope', 'mmface')):
        dataset = DATASETS.build(loader.dataset)
    for part in getattr(dataset, 'datasets', [dataset]):
        part.pipeline = build_pipeline([step for step in part.pipeline.transforms if not getattr(step, 'draws_from', ())])
    labelled = np.flatnonzero(dataset.labels >= 0)
    if not len(labelled):
        raise ValueError(f'{config.filename}: no image of its training set has a label')
    places = np.sort(np.random.default_rng(seed).choice(labelled, min(count, len(labelled)), replace=False))
    items = [dataset[0, int(at)] for at in places]
    samples = [item['data_samples'] for item in items]
    return TrainingSamples(np.array([int(sample.sample_idx) for sample in samples]),
                           torch.cat([sample.gt_label for sample in samples]), torch.stack([item['inputs'] for item in items]), dataset)
