"""The averages over sets that AdaFace's tables print, from the results of single sets.

M. Kim, A. K. Jain, X. Liu, "AdaFace: Quality Adaptive Margin for Face Recognition", 2022, https://arxiv.org/abs/2204.00964.
"""
import math
import re
from collections.abc import Iterable

#: The sets of the high-quality average, and what they are called in results: InsightFace's packs have ``agedb_30``.
HIGH_QUALITY = dict(lfw='lfw', cfpfp='cfp_fp', cplfw='cplfw', agedb='agedb_30', agedb30='agedb_30', calfw='calfw')
#: The protocols of IJB-S in the low-quality average, and the FPIR of its open set.
LOW_QUALITY, FPIR = ('surveillance_to_single', 'surveillance_to_booking', 'surveillance_to_surveillance'), 0.01


def high_quality_average(results: Iterable[dict]) -> dict | None:
    """The mean accuracy over LFW, CFP-FP, CPLFW, AgeDB-30 and CALFW.

    Args:
        results: of protocols; sets are told by their names, in either case and with any signs in between.

    Returns:
        ``average`` (its name), ``value``, and ``of``: the accuracies by set; None where a set is missing.
    """
    accuracy = {}
    for result in results:
        name = HIGH_QUALITY.get(re.sub('[^a-z0-9]', '', result['set'].lower()))
        if name is not None and 'accuracy' in result:
            accuracy[name] = result['accuracy']
    if set(accuracy) != set(HIGH_QUALITY.values()):
        return None
    return dict(average='high_quality', value=sum(accuracy.values()) / len(accuracy), of=accuracy)


def low_quality_average(results: Iterable[dict], rule: str = 'adaface') -> dict | None:
    """The mean of closed-set rank-1 and TPIR at FPIR 1 % over surveillance-to-single, -to-booking and -to-surveillance of IJB-S.

    Args:
        results: of protocols; those of :class:`~mmface.evaluation.IJBSIdentification` are used.
        rule: how the open set's threshold is found: ``'adaface'``, that of the published tables, or ``'strict'``.

    Returns:
        ``average`` (its name, with the rule), ``value``, and ``of``: the six rates; None where no result has them all.
    """
    for result in results:
        if set(LOW_QUALITY) <= set(result):
            rates = {name: rate for part in LOW_QUALITY for name, rate in _rates(part, result[part], rule)}
            if len(rates) == 2 * len(LOW_QUALITY):
                return dict(average=f'low_quality_{rule}', value=sum(rates.values()) / len(rates), of=rates)
    return None


def _rates(name: str, part: dict, rule: str) -> list[tuple[str, float]]:
    points = part['tpir_at_fpir'] if rule == 'strict' else part[rule]['tpir_at_fpir']
    tpir = [(f'{name}/tpir', point['tpir']) for point in points if math.isclose(point['fpir_target'], FPIR)]
    return [(f'{name}/rank1', part['rank1']), *tpir] if 'rank1' in part else tpir
