"""Every identity equally often, however many images it has."""
from collections.abc import Iterator

from mmface.registry import DATA_SAMPLERS

from .epoch_sampler import EpochSampler
from .identity_decks import IdentityDecks, Labelled


@DATA_SAMPLERS.register_module()
class IdentityBalancedSampler(EpochSampler):
    """Yields ``(epoch, index)`` so that each identity comes once in each round of all identities, for sets with long tails.

    An epoch has as many samples as the set has images; an identity's images take turns (:class:`IdentityDecks`), those of a small one come
    several times in an epoch, and then look the same each time, as a sample depends on (seed, epoch, index). Ranks take turns in one common
    order, and :meth:`skip` begins anywhere, as with ``FaceSampler``.

    Args:
        dataset: has ``labels``, int64 ``[N]``; images labelled -1 are not drawn.
        seed, endless: see :class:`EpochSampler`.
    """

    def __init__(self, dataset: Labelled, seed: int | None = 0, endless: bool = False) -> None:
        super().__init__(seed, endless)
        self.decks = IdentityDecks(dataset.labels)
        self.size = -(-self.decks.images // self.world_size)

    def __len__(self) -> int:
        return self.size

    def indices(self, epoch: int, skipped: int) -> Iterator[int]:
        decks, size = self.decks.shuffle(self.seed, epoch), len(self.decks)
        at, end = self.rank + skipped * self.world_size, len(self) * self.world_size
        while at < end:
            round_, place = divmod(at, size)
            places = range(place, min(size, place + end - at), self.world_size)
            yield from self.decks.cards(decks, self.decks.order(self.seed, epoch, round_)[places], round_).tolist()
            at += len(places) * self.world_size
