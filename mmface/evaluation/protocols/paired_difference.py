"""Two models on the same pairs: whether their difference is more than chance."""
import numpy as np

from mmface.functional.identity_bootstrap import percentile_interval
from mmface.functional.mcnemar import mcnemar_test
from mmface.structures import PairSet

from .ten_fold_verification import INDEPENDENT, TenFoldVerification
from .verification_bootstrap import MEASURES


def paired_difference(protocol: TenFoldVerification, pair_set: PairSet, first: np.ndarray, second: np.ndarray) -> dict:
    """The second model's numbers less the first's, with what intervals of each alone cannot say.

    Two models err on the same hard pairs, so that their intervals may overlap although one is clearly better. McNemar's exact test looks
    at the pairs that only one of them gets right, each at the threshold of its fold, and takes pairs as independent. A protocol with a
    bootstrap also draws the same people for both and gives the percentile intervals of the difference.

    Args:
        protocol: gives the switches.
        pair_set: N pairs.
        first: the cosines [N] of the first model, as ``protocol.similarity`` gives them.
        second: those of the second.

    Returns:
        ``set, pairs``; ``mcnemar``: ``only_first_right, only_second_right, p_value``; ``accuracy, auc, eer`` (differences) and
        ``tar_at_far``: a list of ``far_target, tar, resolvable`` (``tar`` is a difference), all with ``..._ci95`` where people were drawn;
        ``intervals`` in words; ``bootstrap``: ``replicates, seed`` or None; ``switches, protocol_hash``.
    """
    results = [protocol.judge(pair_set, similarity) for similarity in (first, second)]
    only_first, only_second, p_value = mcnemar_test(*(protocol.right(pair_set, similarity) for similarity in (first, second)))
    drawn = _draws(protocol, pair_set, first, second) if results[0]['bootstrap'] else {}
    points = []
    for before, after in zip(*(result['tar_at_far'] for result in results), strict=True):
        far = before['far_target']
        points.append(dict(far_target=far, resolvable=before['resolvable'], **_entry('tar', after['tar'] - before['tar'], drawn.get(far))))
    differences: dict = {}
    for name in MEASURES:
        differences |= _entry(name, results[1][name] - results[0][name], drawn.get(name))
    return dict(
        set=pair_set.name, pairs=len(pair_set),
        mcnemar=dict(only_first_right=only_first, only_second_right=only_second, p_value=p_value), **differences, tar_at_far=points,
        intervals=f'{INDEPENDENT} by the test' + (', people by the intervals' if drawn else ''),
        bootstrap=dict(replicates=protocol.bootstrap.replicates, seed=protocol.bootstrap.seed) if drawn else None,
        switches=protocol.switches, protocol_hash=protocol.hash)


def _draws(protocol: TenFoldVerification, pair_set: PairSet, first: np.ndarray, second: np.ndarray) -> dict:
    before, after = (protocol.bootstrap.draw(pair_set, similarity, protocol.parts(pair_set), protocol.rule, protocol.fars)
                     for similarity in (first, second))  # yapf: disable
    return {name: after[name] - before[name] for name in before}


def _entry(name: str, difference: float, drawn: np.ndarray | None) -> dict:
    entry: dict = {name: difference}
    return entry if drawn is None else entry | {f'{name}_ci95': list(percentile_interval(drawn))}
