#!/usr/bin/env python
"""What fp16 and INT8 cost and bring: accuracy on a set of pairs, file size and speed of a network in each number format, as one table.

    benchmark_precision.py model.onnx --gate-set lfw.bin --images calibration/

The model is an .onnx file in fp32 that has a record: ours, or another that tools/annotate.py wrote. A format that does not pass the gate of
tools/export.py is measured all the same, and the table says so; no file is kept, unless --out names a folder.
"""
import argparse
import dataclasses
import json
import sys
import tempfile
from functools import partial
from pathlib import Path

import numpy as np

from mmface.apis.embedding_source import NetworkSource
from mmface.apis.end_metric_gate import EndMetricGate
from mmface.apis.face_cropper import FaceCropper
from mmface.apis.onnx_backend import OnnxEmbedder
from mmface.apis.photo import photo_files
from mmface.datasets import EvalDataset
from mmface.evaluation import TenFoldVerification
from mmface.export import PRECISIONS, GateError, convert_onnx
from mmface.export.parity import ParityError
from mmface.utils.take_turns import take_turns

FORMATS = ('fp32', 'fp16', 'int8')


def parse_args(argv: list[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                                     epilog='Exit codes: 0 measured; 2 bad usage or input.')
    parser.add_argument('model', type=Path, help='the .onnx file, in fp32 and with a record')
    parser.add_argument('--gate-set', required=True, metavar='PATH', help='pairs of aligned faces')
    parser.add_argument('--gate-images', metavar='DIR', help='the folder of their images (default: where the set has them)')
    parser.add_argument('--images', nargs='+', required=True, metavar='PATH',
                        help='aligned crops, or folders of them, to calibrate INT8 with; other people than those of the set')
    parser.add_argument('--formats', nargs='+', choices=FORMATS, default=FORMATS, help='default: all')
    parser.add_argument('--calibrate', type=int, default=256, metavar='N', help='of those crops, evenly spaced (default: %(default)s)')
    parser.add_argument('--threads', type=int, help="of ONNX Runtime (default: ONNX Runtime's)")
    parser.add_argument('--calls', type=int, default=200, help='of each format for the speed, in turn (default: %(default)s)')
    parser.add_argument('--out', type=Path, metavar='DIR', help='keep the files here')
    parser.add_argument('--json', action='store_true', help='print one JSON object')
    return parser.parse_args(argv)


def convert(model: Path, path: Path, name: str, crops: np.ndarray, gate: EndMetricGate) -> tuple[Path, dict]:
    """The file in a format, and how near it stays: its smallest cosine, and what the gate says."""
    if name == 'fp32':
        return model, dict(min_cosine=1., gate='the source')
    precision, measured = PRECISIONS[name], []
    lenient = dataclasses.replace(precision, min_cosine=None, max_relative_difference=None)

    def judge(source: object, candidate: object) -> dict:
        measured.append((source, candidate))
        return {}

    report = convert_onnx(model, path, precision=lenient, images=crops, end_metric=judge)
    verdict = 'passed'
    try:
        if not all(check.passes(precision) for check in report.checks):
            raise ParityError(report.checks, precision)
        gate(*measured[0])
    except GateError as error:
        verdict = f'refused: {str(error).splitlines()[0].rstrip(":")}'
    return report.path, dict(min_cosine=min(check.min_cosine for check in report.checks if check.kind == 'given'), gate=verdict)


def speeds(embedders: dict[str, OnnxEmbedder], calls: int) -> dict[str, dict[int, float]]:
    """Images a second of each at batch 1 and 16, by the median of calls."""
    found: dict[str, dict[int, float]] = {name: {} for name in embedders}
    for batch in (1, 16):
        size = next(iter(embedders.values())).size
        images = np.random.default_rng(0).integers(0, 256, (batch, *size, 3), np.uint8)
        seconds = take_turns([partial(embedder.embed, images) for embedder in embedders.values()], max(3, calls // batch))
        for name, median in zip(embedders, seconds, strict=True):
            found[name][batch] = batch / median
    return found


def measure(args: argparse.Namespace, folder: Path) -> list[dict]:
    """A record for each format."""
    files = photo_files(args.images)
    files = [files[at] for at in np.unique(np.linspace(0, len(files) - 1, min(len(files), args.calibrate)).astype(int))]
    first = OnnxEmbedder(args.model, threads=args.threads)
    crops = np.stack([FaceCropper(first.size, first.template, None)(file).image for file in files])
    dataset = EvalDataset(args.gate_set, args.gate_images, pipeline=[dict(type='DecodeFace'), dict(type='PackFace')])
    gate, protocol = EndMetricGate.from_dataset(dataset), TenFoldVerification()
    rows, embedders = [], {}
    for name in args.formats:
        path, facts = convert(args.model, folder / f'{args.model.stem}_{name}.onnx', name, crops, gate)
        embedders[name] = OnnxEmbedder(path, threads=args.threads)
        result = protocol(dataset.images.set, NetworkSource(embedders[name]).embed(dataset, False)[0])
        rows.append(dict(format=name, bytes=path.stat().st_size, **{key: result[key] for key in ('accuracy', 'accuracy_std')}, **facts))
    for row, speed in zip(rows, speeds(embedders, args.calls).values(), strict=True):
        row['images_per_second'] = speed
    return rows


def table(rows: list[dict], set_name: str) -> str:
    """The table, as it stands in the docs."""
    lines = [f'| format | accuracy on {set_name} | min cosine | file, MB | images/s, batch 1 | batch 16 | gate |',
             '|---|---|---|---|---|---|---|']  # yapf: disable
    for row in rows:
        speed = row['images_per_second']
        lines.append(f'| {row["format"]} | {row["accuracy"]:.2%} +- {row["accuracy_std"]:.2%} | {row["min_cosine"]:.4f} | '
                     f'{row["bytes"] / 1e6:.2f} | {speed[1]:.0f} | {speed[16]:.0f} | {row["gate"]} |')
    return '\n'.join(lines)


def main(argv: list[str] | None = None) -> int:
    """Runs the tool and returns its exit code."""
    args = parse_args(argv)
    try:
        with tempfile.TemporaryDirectory() as temporary:
            rows = measure(args, args.out or Path(temporary))
    except (ValueError, OSError, ImportError) as error:
        print(f'benchmark_precision: {error}', file=sys.stderr)
        return 2
    print(json.dumps(dict(set=str(args.gate_set), formats=rows)) if args.json else table(rows, Path(args.gate_set).stem))
    return 0


if __name__ == '__main__':
    sys.exit(main())
