"""Models on evaluation sets: every protocol of every set, with what a report draws."""
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from mmface.datasets import EvalDataset
from mmface.datasets.formats import EVALS
from mmface.evaluation import (
    POOLING_PRESETS,
    GroupedVerification,
    IJBSIdentification,
    LFWView1,
    MegaFaceIdentification,
    SCfaceIdentification,
    TemplateIdentification,
    TemplateVerification,
    TenFoldVerification,
    TinyFaceIdentification,
    paired_difference,
)
from mmface.evaluation.averages import high_quality_average, low_quality_average
from mmface.structures import PairSet, SearchSet, TemplateSet
from mmface.visualization.report import ReportCase

from .embedding_source import EmbeddingSource

#: The protocols of a set by its format or, for all other formats, by its class.
BY_FORMAT: dict[str, Callable[[Any], Sequence[type]]] = dict(
    rfw=lambda pair_set: [GroupedVerification if len(set(pair_set.groups)) > 1 else TenFoldVerification],
    lfw_view1=lambda _: [LFWView1],
    ijbs=lambda _: [IJBSIdentification],
    megaface=lambda _: [MegaFaceIdentification],
    scface=lambda _: [SCfaceIdentification])
BY_SET: dict[type, Callable[[Any], Sequence[type]]] = {
    PairSet: lambda _: [TenFoldVerification],
    TemplateSet: lambda those: [TemplateVerification] * bool(len(those.pairs)) + [TemplateIdentification] * bool(those.galleries),
    SearchSet: lambda _: [TinyFaceIdentification],
}


@dataclass(frozen=True)
class Evaluated:
    """One model on one set by one protocol."""
    source: EmbeddingSource
    dataset: EvalDataset
    protocol: Any
    case: ReportCase


def protocols_of(dataset: EvalDataset, switches: Mapping[str, Any]) -> list:
    """The protocols for a set, each with those of the switches that it has; ``preset`` stands for several of templates."""
    format_name = next(name for name, reader in EVALS.readers.items() if reader is type(dataset.images))
    evaluation_set = dataset.images.set
    if isinstance(evaluation_set, TemplateSet):
        switches = POOLING_PRESETS.get(switches.get('preset', ''), {}) | dict(switches)
    kinds = BY_FORMAT.get(format_name, BY_SET[type(evaluation_set)])(evaluation_set)
    return [kind(**{name: value for name, value in switches.items() if name in _parameters(kind)}) for kind in kinds]


def check_switches(datasets: Sequence[EvalDataset], switches: Mapping[str, Any]) -> None:
    """Raises ``ValueError`` for a switch that no protocol of any set has; lists those there are."""
    known = {name for dataset in datasets for protocol in protocols_of(dataset, {}) for name in _parameters(type(protocol))} | {'preset'}
    unknown = sorted(set(switches) - known)
    if unknown:
        raise ValueError(f'no protocol of these sets has the switch {unknown[0]}; there are {", ".join(sorted(known))}')


def evaluate(sources: Sequence[EmbeddingSource], datasets: Sequence[EvalDataset], switches: Mapping[str, Any]) -> Iterator[Evaluated]:
    """Evaluates every model on every set, one set after the other.

    Args:
        sources: the models.
        datasets: the sets.
        switches: arguments of protocols; each takes those that it has.

    Yields:
        Each result as it comes: what the protocol says, with ``model`` (what it is, on what input) and ``images`` (their number) before it.

    Raises:
        ValueError, OSError: as sources, protocols and readers; an unknown switch.
    """
    check_switches(datasets, switches)
    for dataset in datasets:
        protocols = protocols_of(dataset, switches)
        mirrored = any(protocol.flip for protocol in protocols)
        for source in sources:
            plain, flipped = source.embed(dataset, mirrored)
            for protocol in protocols:
                yield Evaluated(source, dataset, protocol, _case(source, dataset, protocol, plain, flipped if protocol.flip else None))


def averages(found: Sequence[Evaluated]) -> list[dict]:
    """The averages over sets that papers print, for every model that has all the sets of one."""
    by_model: dict[str, list[dict]] = {}
    for one in found:
        by_model.setdefault(one.source.name, []).append(one.case.result)
    kinds = (high_quality_average, low_quality_average, partial(low_quality_average, rule='strict'))
    return [dict(model=model, **average) for model, results in by_model.items() for kind in kinds for average in [kind(results)] if average]


def comparisons(found: Sequence[Evaluated]) -> list[dict]:
    """Every further model against the first, on each set of pairs with folds."""
    compared = []
    for number, one in enumerate(found):
        first = next(other for other in found if other.dataset is one.dataset)
        if first is not found[number] and isinstance(one.protocol, TenFoldVerification):
            pair_set: Any = one.dataset.images.set
            before, after = (np.asarray(case.similarity) for case in (first.case, one.case))
            compared.append(dict(models=[first.source.name, one.source.name], **paired_difference(one.protocol, pair_set, before, after)))
    return compared


def _parameters(kind: type) -> list[str]:
    return list(inspect.signature(kind).parameters)


def _case(source: EmbeddingSource, dataset: EvalDataset, protocol: Any, plain: np.ndarray, mirrored: np.ndarray | None) -> ReportCase:
    evaluation_set: Any = dataset.images.set
    about = dict(model=source.describe(), images=len(dataset))
    if not hasattr(protocol, 'similarity'):
        return ReportCase(source.name, about | protocol(evaluation_set, plain, mirrored))
    protocol.check(evaluation_set)
    similarity = protocol.similarity(evaluation_set, plain, mirrored)
    drawn = _drawn(source, dataset, evaluation_set.pairs, plain) if isinstance(evaluation_set, PairSet) else {}
    return ReportCase(source.name, about | protocol.judge(evaluation_set, similarity), similarity, evaluation_set.same, **drawn)


def _drawn(source: EmbeddingSource, dataset: EvalDataset, pairs: np.ndarray, plain: np.ndarray) -> dict:
    """What a report shows of pairs of images beside their scores."""
    shown, norms = source.images(dataset), np.linalg.norm(plain, axis=1)
    images = None if shown is None else lambda row: (shown(int(pairs[row, 0])), shown(int(pairs[row, 1])))
    return dict(quality=norms[pairs].min(1), images=images)
