"""Ten-fold verification during validation and testing."""
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from mmengine.logging import print_log

from mmface.functional.operating_point import far_text
from mmface.registry import METRICS
from mmface.structures import PairSet

from ..protocols import TenFoldVerification
from .embedding_metric import EmbeddingMetric


@METRICS.register_module()
class VerificationMetric(EmbeddingMetric):
    """``{set}/accuracy``, ``accuracy_std``, ``accuracy_se``, ``auc``, ``eer`` and ``tar@far=1e-2`` ... of a pair set, as fractions.

    What they mean is in :class:`mmface.evaluation.TenFoldVerification`. The data set gives its :class:`~mmface.structures.PairSet` as
    ``metainfo['pair_set']``. A FAR that the impostors cannot resolve is left out, and the log says so.

    Args:
        rule: ``'grid'`` or ``'exact'``, see the protocol.
        flip: None, or ``'add'``, ``'add_unit'``, ``'concatenate'``: samples then need ``mirrored_embedding`` as well.
        fars: targets of TAR@FAR, fractions.
        scores_file: an ``.npz`` to write ``similarity`` [N], ``same`` [N] and ``fold`` [N] to, for pictures.
        collect_device: see :class:`EmbeddingMetric`.
        prefix: what the names start with. Default: the name of the set.
    """
    meta_key = 'pair_set'

    def __init__(self,
                 rule: str = 'grid',
                 flip: str | None = None,
                 fars: Sequence[float] = (1e-2, 1e-3),
                 scores_file: str | None = None,
                 collect_device: str = 'cpu',
                 prefix: str | None = None) -> None:
        super().__init__(mirrored=flip is not None, collect_device=collect_device, prefix=prefix)
        self.protocol = TenFoldVerification(rule=rule, flip=flip, fars=fars)
        self.scores_file = scores_file

    def compute(self, evaluation_set: PairSet, embeddings: np.ndarray, mirrored: np.ndarray | None) -> dict[str, float]:
        """The protocol's main numbers."""
        self.protocol.check(evaluation_set)
        similarity = self.protocol.similarity(evaluation_set, embeddings, mirrored)
        result = self.protocol.judge(evaluation_set, similarity)
        if self.scores_file is not None:
            Path(self.scores_file).parent.mkdir(parents=True, exist_ok=True)
            np.savez(self.scores_file, similarity=similarity, same=evaluation_set.same, fold=evaluation_set.fold)
        numbers = {key: result[key] for key in ('accuracy', 'accuracy_std', 'accuracy_se', 'auc', 'eer')}
        for point in result['tar_at_far']:
            far = far_text(point['far_target'])
            if point['resolvable']:
                numbers[f'tar@far={far}'] = point['tar']
            else:
                print_log(f'{evaluation_set.name}: {point["impostors"]} impostor pairs cannot resolve FAR {far}', 'current')
        return numbers
