#!/usr/bin/env python
"""Images a second through mmface's OnnxEmbedder and through a bare ONNX Runtime loop on the same file, side by side.

The bare loop gets its batches ready made, as the file takes them: it neither checks, reorders, scales nor copies. The two take turns, so
that a busy machine disturbs both alike, some calls at a time, since the threads of the one go on spinning for a while into the other's
turn; medians are compared.
"""
import argparse
import json
import sys

import numpy as np

from mmface.apis.onnx_backend import OnnxEmbedder
from mmface.apis.onnx_session import PROVIDERS, open_session
from mmface.commands.arguments import add_model_arguments, open_model
from mmface.export.inputs import prepare_images
from mmface.utils.take_turns import take_turns

TARGET = .95


def parse_args(argv: list[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                                     epilog=f'Exit codes: 0 measured; 1 below {TARGET:.0%} (--check); 2 bad usage or input.')
    add_model_arguments(parser)
    parser.add_argument('--batch', type=int, nargs='+', default=[1, 16], help='images at a time (default: %(default)s)')
    parser.add_argument('--images', type=int, default=1000, help='of each (default: %(default)s)')
    parser.add_argument('--check', action='store_true', help=f'fail below {TARGET:.0%}')
    parser.add_argument('--json', action='store_true', help='print one JSON object')
    return parser.parse_args(argv)


def measure(embedder: OnnxEmbedder, args: argparse.Namespace, batch: int) -> dict:
    """Median images a second of both, and their ratio."""
    images = np.random.default_rng(0).integers(0, 256, (batch, *embedder.size, 3), np.uint8)
    session, _ = open_session(embedder.path, PROVIDERS.get(args.provider), args.threads, args.engine_cache)
    takes = session.get_inputs()[0]
    kinds = {'tensor(uint8)': np.uint8, 'tensor(float)': np.float32, 'tensor(float16)': np.float16}
    scale = {} if embedder.in_graph else dict(mean=embedder.mean, std=embedder.std)
    ready = prepare_images(images, takes.shape[1] == 3, embedder.color, dtype=kinds[takes.type], **scale)
    if embedder.batch_size not in (None, batch):
        raise ValueError(f'{embedder.path}: its batch is fixed to {embedder.batch_size}, measure with --batch {embedder.batch_size}')
    feed = {takes.name: ready}
    ours, bare = take_turns([lambda: embedder.embed(images), lambda: session.run(None, feed)], max(3, args.images // batch))
    return dict(batch=batch, ours=batch / ours, bare=batch / bare, ratio=bare / ours)


def main(argv: list[str] | None = None) -> int:
    """Runs the tool and returns its exit code."""
    args = parse_args(argv)
    try:
        embedder = open_model(args)
        found = [measure(embedder, args, batch) for batch in args.batch]
    except (ValueError, OSError, ImportError) as error:
        print(f'benchmark_infer: {error}', file=sys.stderr)
        return 2
    if args.json:
        print(json.dumps(dict(runs_on=embedder.runs_on, results=found)))
    else:
        print(f'{embedder.path.name} on {embedder.runs_on}\n\n| batch | mmface, images/s | bare loop | share |\n|---|---|---|---|')
        for row in found:
            print(f'| {row["batch"]} | {row["ours"]:.1f} | {row["bare"]:.1f} | {row["ratio"]:.1%} |')
    return 1 if args.check and min(row['ratio'] for row in found) < TARGET else 0


if __name__ == '__main__':
    sys.exit(main())
