#!/usr/bin/env python
"""How well does a network in ONNX format verify faces? Runs it over a set of pairs and prints every number with every switch behind it."""
import argparse
import sys
from pathlib import Path

import numpy as np
import onnx
from mmengine import ProgressBar

from mmface.apis.embed_dataset import embed_dataset
from mmface.apis.onnx_backend import OnnxEmbedder
from mmface.datasets import PairDataset
from mmface.evaluation import TenFoldVerification, result_json, verification_summary
from mmface.export.model_id import model_id
from mmface.functional.pair_distances import FLIP_RULES
from mmface.visualization import pairs_to_show, save_figure, verification_picture


def parse_args(argv: list[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, epilog='Exit codes: 0 evaluated; 2 bad usage, or a file that cannot be used.')
    parser.add_argument('model', help='the network: an .onnx file, of ours or any other')
    parser.add_argument('--pairs', help="the list of pairs, as LFW's pairs.txt (default: the one in --images)")
    parser.add_argument('--images', help='the folder of aligned crops (default: that of the list)')
    parser.add_argument('--format', default='auto', help='format of the set (default: %(default)s)')
    parser.add_argument('--name', help='what to call the set (default: after its format)')
    parser.add_argument('--rule', choices=['grid', 'exact'], default='grid',
                        help='thresholds to choose from: the 400 of the literature, or all (default: %(default)s)')
    parser.add_argument('--flip', choices=sorted(FLIP_RULES), help='use the mirror image too, joined in this way (default: do not)')
    parser.add_argument('--far', type=float, nargs='+', default=[1e-1, 1e-2, 1e-3, 1e-4], help='for TAR@FAR (default: 1e-1 ... 1e-4)')
    parser.add_argument('--out', type=Path, metavar='JSON', help='write everything here')
    parser.add_argument('--picture', type=Path, metavar='PNG', help='draw ROC, histograms and some pairs')
    parser.add_argument('--batch-size', type=int, default=64, help='images at a time (default: %(default)s)')
    parser.add_argument('--threads', type=int, help="of ONNX Runtime (default: ONNX Runtime's)")
    foreign = parser.add_argument_group('for a network whose file does not say what it needs')
    foreign.add_argument('--mean', type=float, nargs=3, help='per channel, in 0..255, in the order of --color')
    foreign.add_argument('--std', type=float, nargs=3, help='likewise')
    foreign.add_argument('--color', choices=['RGB', 'BGR'], help='channel order')
    foreign.add_argument('--size', type=int, nargs=2, metavar=('HEIGHT', 'WIDTH'), help='of the aligned face in pixels')
    args = parser.parse_args(argv)
    if not args.pairs and not args.images:
        parser.error('give the set with --pairs, --images or both')
    return args


def describe(embedder: OnnxEmbedder) -> dict:
    """What was run, and on what input."""
    return dict(
        path=str(embedder.path), model_id=model_id(onnx.load(embedder.path)), size=embedder.size, color=embedder.color, mean=embedder.mean,
        std=embedder.std, preprocessing_in_graph=embedder.in_graph, providers=embedder.providers)


def draw(dataset: PairDataset, similarity: np.ndarray, result: dict, path: Path) -> None:
    """Writes the picture of a result."""
    pair_set = dataset.metainfo['pair_set']
    shown = pairs_to_show(similarity, pair_set.same)
    first, second = ([dataset[at]['inputs'].permute(1, 2, 0).numpy() for at in side] for side in pair_set.pairs[shown].T)
    title = f'{pair_set.name}: accuracy {result["accuracy"]:.2%} over {result["folds"]} folds'
    save_figure(verification_picture(similarity, pair_set.same, result['threshold'], first, second, shown, title), path)


def evaluate(args: argparse.Namespace) -> None:
    """Runs the network over the set, prints and writes what was asked for."""
    protocol = TenFoldVerification(rule=args.rule, flip=args.flip, fars=args.far)
    embedder = OnnxEmbedder(args.model, threads=args.threads, mean=args.mean, std=args.std, color=args.color, size=args.size)
    dataset = PairDataset(args.images or args.pairs, args.pairs if args.images else None, args.name, format=args.format,
                          pipeline=[dict(type='DecodeFace'), dict(type='PackFace')])
    pair_set, bar = dataset.metainfo['pair_set'], ProgressBar(len(dataset), file=sys.stderr)
    embeddings = embed_dataset(embedder, dataset, args.flip is not None, args.batch_size, bar.update)
    print(file=sys.stderr)
    result = dict(model=describe(embedder), images=len(dataset), **protocol(pair_set, *embeddings))
    print(*(f'{name:<24}{value}' for name, value in result['model'].items()), verification_summary(result), sep='\n')
    if args.out:
        args.out.parent.mkdir(parents=True, exist_ok=True)
        args.out.write_text(result_json(result))
    if args.picture:
        draw(dataset, protocol.similarity(pair_set, *embeddings), result, args.picture)


def main(argv: list[str] | None = None) -> int:
    """Runs the tool and returns its exit code."""
    args = parse_args(argv)
    try:
        evaluate(args)
    except (ValueError, OSError, ImportError) as error:
        print(f'evaluate: {error}', file=sys.stderr)
        return 2
    return 0


if __name__ == '__main__':
    sys.exit(main())
