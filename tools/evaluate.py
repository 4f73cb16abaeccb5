#!/usr/bin/env python
"""How well do networks verify and identify faces? Runs models over evaluation sets and prints every number with every switch behind it.

    evaluate.py model.onnx --set lfw.bin --set cfp_fp.bin --out result.json
    evaluate.py old.onnx new.onnx --set LFW/ --bootstrap 1000 --report report.html
    evaluate.py embeddings.npz --set IJBC/ name=ijbc

A model is an .onnx file, of ours or any other, or a file of embeddings (.npy, .npz, .safetensors). Embeddings of a network are kept and
found again by the content of the network and of the images.
"""
import argparse
import ast
import dataclasses
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mmface.apis.arguments import add_input_arguments
from mmface.apis.embedding_cache import EmbeddingCache
from mmface.apis.embedding_source import FILES, EmbeddingSource, FileSource, NetworkSource
from mmface.apis.evaluate import Evaluated, averages, comparisons, evaluate
from mmface.apis.onnx_backend import OnnxEmbedder
from mmface.datasets import EvalDataset
from mmface.datasets.formats import read_groups
from mmface.evaluation import POOLING_PRESETS, result_json, result_summary, threshold_record, write_thresholds
from mmface.functional.flip_rules import FLIP_RULES
from mmface.structures import PairSet
from mmface.utils.atomic_file import atomic_file
from mmface.visualization import pairs_to_show, save_figure, verification_picture
from mmface.visualization.report import ReportCase, write_report


def parse_args(argv: list[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                                     epilog='Exit codes: 0 evaluated; 2 bad usage, or a file that cannot be used.')
    parser.add_argument('models', nargs='+', metavar='model',
                        help='.onnx files or files of embeddings; further ones are compared with the first')
    sets = parser.add_argument_group('sets')
    sets.add_argument('--set', nargs='+', action='append', default=[], dest='sets', metavar=('PATH', 'KEY=VALUE'),
                      help='a set in any known format, and what its reader takes: name=, format=, images=, ... (may be repeated)')
    sets.add_argument('--pairs', help="one set of pairs: its list, as LFW's pairs.txt (default: the one in --images)")
    sets.add_argument('--images', help='its folder of aligned crops (default: that of the list)')
    sets.add_argument('--format', default='auto', help='its format (default: %(default)s)')
    sets.add_argument('--name', help='what to call it (default: after its format)')
    sets.add_argument('--groups', help='image or person, and group, a line: error rates by group')
    protocol = parser.add_argument_group('protocol')
    protocol.add_argument('--rule', choices=['grid', 'exact'],
                          help='thresholds to choose from: the 400 of the literature, or all (default: grid)')
    protocol.add_argument('--flip', choices=sorted(FLIP_RULES), help='use the mirror image too, joined in this way (default: do not)')
    protocol.add_argument('--far', type=float, nargs='+', dest='fars', help='for TAR@FAR (default: 1e-1 ... 1e-6)')
    protocol.add_argument('--preset', choices=sorted(POOLING_PRESETS), help='pool templates as that project does (default: insightface)')
    protocol.add_argument('--group-far', type=float, help='compare groups at the threshold of this FAR over all pairs (default: 1e-3)')
    protocol.add_argument('--group-threshold', type=float, help='compare groups at this cosine instead')
    protocol.add_argument('--bootstrap', type=int, metavar='N', help='draw people N times for intervals, where the set names them')
    protocol.add_argument('--seed', type=int, help='of the draws (default: 0)')
    protocol.add_argument('--switch', nargs='+', default=[], metavar='KEY=VALUE', help='any other argument of a protocol')
    output = parser.add_argument_group('output')
    output.add_argument('--json', action='store_true', help='print one JSON object instead of text')
    output.add_argument('--out', type=Path, metavar='JSON', help='write everything here')
    output.add_argument('--report', type=Path, metavar='HTML', help='write one page with tables, curves and the worst pairs')
    output.add_argument('--no-images', action='store_true', help='leave faces out of the report')
    output.add_argument('--scores', type=Path, metavar='NPZ', help='write the similarities of all pairs')
    output.add_argument('--thresholds', type=Path, metavar='JSON', help='write the thresholds, for tools/export.py and tools/verify.py')
    output.add_argument('--picture', type=Path, metavar='PNG', help='draw ROC, histograms and some pairs of the first set of pairs')
    running = parser.add_argument_group('running a network')
    running.add_argument('--batch-size', type=int, default=64, help='images at a time (default: %(default)s)')
    running.add_argument('--threads', type=int, help="of ONNX Runtime (default: ONNX Runtime's)")
    running.add_argument('--cache', type=Path, metavar='DIR', help="where embeddings are kept (default: the user's cache folder)")
    running.add_argument('--no-cache', action='store_true', help='compute them anew and keep none')
    add_input_arguments(parser)
    files = parser.add_argument_group('for a file of embeddings')
    files.add_argument('--list', metavar='TXT', help='the name of an image a line (default: names in the file, else the order of the set)')
    files.add_argument('--split', action='store_true', help='its columns are original and mirrored embedding side by side')
    args = parser.parse_args(argv)
    if not args.sets and not args.pairs and not args.images:
        parser.error('give a set with --set, or with --pairs, --images or both')
    return args


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
    preprocessing = dict(mean=args.mean, std=args.std, color=args.color, size=args.size)
    if path.endswith(FILES):
        given = [name for name, value in preprocessing.items() if value is not None]
        if given:
            raise ValueError(f'{path} holds embeddings: --{given[0]} is for networks')
        return FileSource(path, args.list, args.split)
    cache = None if args.no_cache else EmbeddingCache(args.cache)
    return NetworkSource(OnnxEmbedder(path, threads=args.threads, **preprocessing), args.batch_size, cache)


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
    case, same = one.case, one.case.same
    shown = pairs_to_show(case.similarity, same)
    first, second = zip(*(case.images(int(row)) for row in shown), strict=True)
    title = f'{case.set}: accuracy {case.result["accuracy"]:.2%}'
    save_figure(verification_picture(case.similarity, same, case.threshold, first, second, shown, title), path)


def write(args: argparse.Namespace, found: list[Evaluated]) -> dict:
    """Writes the files that were asked for; returns everything as one record."""
    record = dict(schema=1, results=[one.case.result for one in found], averages=averages(found), comparisons=comparisons(found))
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


def run(args: argparse.Namespace) -> None:
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


def main(argv: list[str] | None = None) -> int:
    """Runs the tool and returns its exit code."""
    args = parse_args(argv)
    try:
        run(args)
    except (ValueError, OSError, ImportError) as error:
        print(f'evaluate: {error}', file=sys.stderr)
        return 2
    return 0


if __name__ == '__main__':
    sys.exit(main())
