"""A metric that runs any protocol of one kind of set."""
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from mmengine.logging import print_log

from ..summary import result_json
from .embedding_metric import EmbeddingMetric
from .main_numbers import main_numbers, unresolved


class ProtocolMetric(EmbeddingMetric):
    """The numbers of one protocol, ``{set}/rank1``, ``{set}/tar@far=1e-4`` and so on, as fractions.

    A FAR or FPIR that the trials cannot resolve is left out, and the log says so.

    Args:
        protocol: the name of its class.
        collect_device: see :class:`EmbeddingMetric`.
        prefix: likewise.
        result_file: a ``.json`` to write the whole result to, with intervals, counts and switches.
        switches: arguments of the protocol.

    Raises:
        ValueError: for a protocol of another kind; lists those there are.
    """
    protocols: ClassVar[dict[str, type]]  #: by name

    def __init__(self,
                 protocol: str,
                 collect_device: str = 'cpu',
                 prefix: str | None = None,
                 result_file: str | None = None,
                 **switches: Any) -> None:
        if protocol not in self.protocols:
            raise ValueError(f'{type(self).__name__} has no protocol {protocol!r}, it has {", ".join(sorted(self.protocols))}')
        self.protocol = self.protocols[protocol](**switches)
        self.result_file = result_file
        super().__init__(mirrored=self.protocol.flip is not None, collect_device=collect_device, prefix=prefix)

    def compute(self, evaluation_set: Any, embeddings: np.ndarray, mirrored: np.ndarray | None) -> dict[str, float]:
        """The protocol's main numbers."""
        result = self.protocol(evaluation_set, embeddings, mirrored)
        if self.result_file is not None:
            Path(self.result_file).parent.mkdir(parents=True, exist_ok=True)
            Path(self.result_file).write_text(result_json(result))
        if missing := unresolved(result):
            print_log(f'{evaluation_set.name}: too few trials to resolve {", ".join(missing)}', 'current')
        return main_numbers(result)
