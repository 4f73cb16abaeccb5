"""The images of each identity, shuffled anew for each epoch like a deck of cards."""
from typing import Protocol

import numpy as np
import torch

from mmface.datasets.seeding import mix


class Labelled(Protocol):
    """A data set that says at once who is where: ``labels``, int64 ``[N]``, -1 for an image to ignore."""
    labels: np.ndarray


class IdentityDecks:
    """Which identity comes when, and which of its images.

    Identities come in rounds: a round is a random order of all of them. In round r an identity shows the next of its images, in an order of
    its own that is drawn once an epoch; after the last it begins again. Everything depends on (seed, epoch) alone.

    Args:
        labels: int64 ``[N]``, the identity of each image.
        min_images: identities with fewer images take no part.

    Raises:
        ValueError: where none takes part.
    """

    def __init__(self, labels: np.ndarray, min_images: int = 1) -> None:
        labels = np.asarray(labels)
        counts = np.bincount(labels[labels >= 0])
        self.kept = np.flatnonzero(counts >= min_images)
        if not len(self.kept):
            raise ValueError(f'no identity has {min_images} images or more')
        self.dropped = int((counts > 0).sum()) - len(self.kept)
        ranks = np.full(len(counts), -1)
        ranks[self.kept] = np.arange(len(self.kept))
        ranks = np.where(labels >= 0, ranks[labels], -1)
        self._images = np.flatnonzero(ranks >= 0)
        self._ranks = ranks[self._images]
        self.counts = counts[self.kept]
        self._starts = np.cumsum(self.counts) - self.counts

    def __len__(self) -> int:
        """Identities that take part."""
        return len(self.kept)

    @property
    def images(self) -> int:
        """Their images."""
        return len(self._images)

    def shuffle(self, seed: int, epoch: int) -> np.ndarray:
        """The decks of an epoch, one after the other, int64 ``[images]``."""
        order = _permutation(self.images, mix(seed, epoch))
        return self._images[order[np.argsort(self._ranks[order], kind='stable')]]

    def order(self, seed: int, epoch: int, round_: int) -> np.ndarray:
        """The order of the identities in a round, as their ranks among those that take part, int64 ``[len(self)]``."""
        return _permutation(len(self), mix(seed, epoch, 1 + round_))

    def cards(self, decks: np.ndarray, identities: np.ndarray, card: np.ndarray | int) -> np.ndarray:
        """The images that ``identities`` (ranks) show as their ``card``-th."""
        return decks[self._starts[identities] + card % self.counts[identities]]


def _permutation(size: int, seed: int) -> np.ndarray:
    return torch.randperm(size, generator=torch.Generator().manual_seed(seed >> 1)).numpy()
