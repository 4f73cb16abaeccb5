"""What every protocol on templates begins with."""
from abc import ABC, abstractmethod

import numpy as np

from mmface.structures import TemplateSet

from .switches import hash_switches
from .template_pooling import TemplatePooling

#: The score of a comparison with a template that has no image.
FAILURES = dict(zero=0., reject=-np.inf)


class TemplateProtocol(ABC):
    """From raw embeddings to templates, and to a result with all the switches behind it.

    Args:
        pooling: how images become templates.
        failure_to_enrol: what a template without image is: ``'error'``, which names it; ``'zero'``: the zero vector, with score 0 against
            all (PFE, AdaFace: it outranks every negative score); ``'reject'``: never found, never accepted, and counted as a miss (NIST).
    """
    name: str  #: the ``protocol`` of the switches
    version = 1

    def __init__(self, pooling: TemplatePooling, failure_to_enrol: str = 'error') -> None:
        if failure_to_enrol not in ('error', *FAILURES):
            raise ValueError(f"failure_to_enrol is {failure_to_enrol!r}, expected one of 'error', {', '.join(map(repr, FAILURES))}")
        self.pooling, self.failure_to_enrol = pooling, failure_to_enrol

    @property
    def flip(self) -> str | None:
        """How mirrored embeddings are used, None where they are not."""
        return self.pooling.flip

    @property
    def switches(self) -> dict:
        """All that decides the numbers apart from the data."""
        return dict(protocol=self.name, version=self.version, score='cosine', **self.pooling.switches,
                    failure_to_enrol=self.failure_to_enrol)

    @property
    def hash(self) -> str:
        """The fingerprint of :attr:`switches`."""
        return hash_switches(self.switches)

    @abstractmethod
    def check(self, template_set: TemplateSet) -> None:
        """Raises ``ValueError`` for a set that the protocol cannot use."""

    @abstractmethod
    def __call__(self, template_set: TemplateSet, embeddings: np.ndarray, mirrored: np.ndarray | None = None) -> dict:
        """Evaluates the embeddings of a template set.

        Args:
            template_set: templates over M images.
            embeddings: raw [M, D] in the order of ``template_set.paths``; may be memory-mapped.
            mirrored: those of the mirrored images, where ``flip`` asks for them.

        Returns:
            Counts, rates with their intervals, ``switches`` and ``protocol_hash``, as the protocol says.

        Raises:
            ValueError: a wrong number of embeddings, one that is not finite or has no length, a template without image (unless
                ``failure_to_enrol`` says otherwise), or a set of another make; names it.
        """
