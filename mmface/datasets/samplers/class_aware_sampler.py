"""Batches of P identities with K images each."""
from collections.abc import Iterator

import numpy as np
from mmengine.logging import print_log

from mmface.registry import DATA_SAMPLERS

from .epoch_sampler import EpochSampler
from .identity_decks import IdentityDecks, Labelled


@DATA_SAMPLERS.register_module()
class ClassAwareSampler(EpochSampler):
    """Yields ``(epoch, index)`` so that every ``identities * images`` samples, which is the batch size to set, are P people K times.

    For losses that compare images with one another. Identities come in rounds (:class:`IdentityDecks`); those at the end of a round that do
    not fill a batch wait for the next, whose order is another. An identity with fewer than K images shows some twice, and one with fewer
    than ``min_images`` is left out, which the log says. An epoch has about as many samples as there are images to draw, the same number of
    whole batches on each rank.

    Args:
        dataset: has ``labels``, int64 ``[N]``; images labelled -1 are not drawn.
        identities: P, of a batch on one rank.
        images: K, of each.
        min_images: identities with fewer are left out; 1 keeps those with a single image, which then stands K times in a batch.
        seed, endless: see :class:`EpochSampler`.

    Raises:
        ValueError: where fewer than P identities take part.
    """

    def __init__(self,
                 dataset: Labelled,
                 identities: int,
                 images: int,
                 min_images: int = 2,
                 seed: int | None = 0,
                 endless: bool = False) -> None:
        super().__init__(seed, endless)
        self.decks = IdentityDecks(dataset.labels, min_images)
        if len(self.decks) < identities:
            raise ValueError(f'{len(self.decks)} identities with {min_images} images or more: too few for batches of {identities}')
        if self.decks.dropped:
            print_log(f'ClassAwareSampler leaves out {self.decks.dropped} identities with fewer than {min_images} images', logger='current')
        self.identities, self.images = identities, images
        self.batches = max(1, round(self.decks.images / (identities * images * self.world_size)))

    def __len__(self) -> int:
        return self.batches * self.identities * self.images

    def indices(self, epoch: int, skipped: int) -> Iterator[int]:
        decks, cards = self.decks.shuffle(self.seed, epoch), np.arange(self.images)
        per_round = len(self.decks) // self.identities
        first, inside = divmod(skipped, self.identities * self.images)
        known, order = -1, np.empty(0, np.int64)
        for batch in range(first, self.batches):
            round_, place = divmod(batch * self.world_size + self.rank, per_round)
            if round_ != known:
                known, order = round_, self.decks.order(self.seed, epoch, round_)
            people = order[place * self.identities:(place + 1) * self.identities]
            drawn = self.decks.cards(decks, people[:, None], round_ * self.images + cards).flatten().tolist()
            yield from drawn[inside if batch == first else 0:]
