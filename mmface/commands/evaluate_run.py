"""What the command ``evaluate`` does once it knows what is wanted."""
import argparse
import ast
import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mmface.apis.embedding_cache import EmbeddingCache
from mmface.apis.embedding_source import FILES, EmbeddingSource, FileSource, NetworkSource
from mmface.apis.evaluate import Evaluated, averages, comparisons, evaluate
from mmface.apis.model_argument import is_pair
from mmface.datasets import EvalDataset
from mmface.datasets.formats import read_groups
from mmface.evaluation import result_json, result_summary, threshold_record, write_thresholds
from mmface.structures import PairSet
from mmface.utils.atomic_file import atomic_file
from mmface.visualization import pairs_to_show, save_figure, verification_picture
from mmface.visualization.report import ReportCase, write_report

from .arguments import open_network


def parse_options(texts: Sequence[str]) -> dict[str, Any]:
    """``['fold_size=300', 'name=lfw']`` as ``{'fold_size': 300, 'name': 'lfw'}``.

    Raises:
        ValueError: for a text without ``=``.
    """
    options = {}
    for text in texts:
        key, equals, value = text.partition('=')
        if not key or not equals:
            raise ValueError(f'{text!r} is not KEY=VALUE')
        try:
            options[key] = ast.literal_eval(dict(true='True', false='False', none='None').get(value, value))
        except (ValueError, SyntaxError):
            options[key] = value
    return options


def open_source(path: str, args: argparse.Namespace) -> EmbeddingSource:
    """A model of the command line."""
    if path.endswith(FILES) and not is_pair(path):
        given = [name for name in ('mean', 'std', 'color', 'size') if getattr(args, name) is not None]
        if given:
            raise ValueError(f'{path} holds embeddings: --{given[0]} is for networks')
        return FileSource(path, args.list, args.split)
    cache = None if args.no_cache else EmbeddingCache(args.cache)
    return NetworkSource(open_network(path, args), args.batch_size, cache)


def open_sets(args: argparse.Namespace) -> list[EvalDataset]:
    """The sets of the command line, with the groups of ``--groups``."""
    specs = [(path, parse_options(options)) for path, *options in args.sets]
    if args.pairs or args.images:
        options = dict(format=args.format, images=args.images if args.pairs else None, name=args.name)
        specs.insert(0, (args.pairs or args.images, options))
    datasets = []
    for path, options in specs:
        named = {key: options.pop(key) for key in ('format', 'images', 'name') if key in options}
        datasets.append(EvalDataset(path, reader=options, **named))
    for dataset in datasets if args.groups else ():
        images = dataset.images
        if not isinstance(images.set, PairSet):
            raise ValueError(f'{images.set.name}: groups are compared on sets of pairs')  # noqa: TRY004 (the user's file)
        images.set = dataclasses.replace(images.set, groups=read_groups(args.groups, images.set.paths, images.set.identities))
    return datasets


def draw(one: Evaluated, path: Path) -> None:
    """Writes the picture of a result on pairs."""
    case, similarity, same = one.case, one.case.similarity, one.case.same
    if similarity is None or same is None or case.threshold is None:
        raise ValueError(f'--picture shows pairs, which {case.set} has none of')
    shown = pairs_to_show(similarity, same).tolist()
    first, second = zip(*(case.images(int(row)) for row in shown), strict=True)
    title = f'{case.set}: accuracy {case.result["accuracy"]:.2%}'
    save_figure(verification_picture(similarity, same, case.threshold, first, second, shown, title), path)


def write(args: argparse.Namespace, found: list[Evaluated]) -> dict[str, Any]:
    """Writes the files that were asked for; returns everything as one record."""
    results = [one.case.result for one in found]
    record: dict[str, Any] = dict(schema=1, results=results, averages=averages(found), comparisons=comparisons(found))
    if args.out:
        with atomic_file(args.out) as file:
            file.write(result_json(record).encode())
    scored = [one for one in found if one.case.similarity is not None]
    if args.scores:
        with atomic_file(args.scores) as file:
            np.savez(file, **{f'{one.case.model}/{one.case.set}/{name}': getattr(one.case, name)
                              for one in scored for name in ('similarity', 'same')})  # yapf: disable
    if args.report:
        write_report(report_cases(found), args.report, images=not args.no_images, comparisons=record['comparisons'])
    if args.picture:
        draw(next(one for one in scored if one.case.images is not None), args.picture)
    if args.thresholds:
        write_thresholds(thresholds_of(found), args.thresholds)
    return record


def report_cases(found: list[Evaluated]) -> list[ReportCase]:
    """The sections of the report: a set with several protocols has one for each, called after both."""
    cases = []
    for one in found:
        kinds = {type(other.protocol) for other in found if other.dataset is one.dataset}
        name = one.case.set if len(kinds) == 1 else f'{one.case.set}, {one.protocol.name.replace("_", " ")}'
        cases.append(dataclasses.replace(one.case, result=one.case.result | dict(set=name)))
    return cases


def thresholds_of(found: list[Evaluated]) -> dict:
    """The record for ``--thresholds``, of the one result that has any."""
    fitting = [one for one in found if 'tar_at_far' in one.case.result]
    if len(fitting) != 1:
        raise ValueError(f'--thresholds needs one model on one verification set, these are {len(fitting)} results with thresholds')
    if fitting[0].source.model_id is None:
        raise ValueError(f'{fitting[0].source.path}: a file of embeddings does not say which network the thresholds are for')
    return threshold_record(fitting[0].case.result, fitting[0].source.model_id)


def evaluate_all(args: argparse.Namespace) -> None:
    """Evaluates, prints and writes."""
    names = ('rule', 'flip', 'fars', 'preset', 'group_far', 'group_threshold', 'bootstrap', 'seed')
    switches = {name: getattr(args, name) for name in names if getattr(args, name) is not None} | parse_options(args.switch)
    found = []
    for one in evaluate([open_source(path, args) for path in args.models], open_sets(args), switches):
        found.append(one)
        if not args.json:
            print(result_summary(one.case.result), end='\n\n', flush=True)
    record = write(args, found)
    if args.json:
        print(result_json(record), end='')
        return
    for average in record['averages']:
        print(f'{average["model"]}: {average["average"].replace("_", " ")} average {average["value"]:.2%} of {", ".join(average["of"])}')
    for comparison in record['comparisons']:
        print(f'{comparison["models"][1]} less {comparison["models"][0]}\n{result_summary(comparison)}\n')
