#!/usr/bin/env python
"""Writes a trained network as an ONNX file that takes uint8 RGB images, says what it is, and has been checked against its source."""
import argparse
import sys

from mmengine.config import DictAction

from mmface.apis.export_model import export_model
from mmface.export import ExportReport, Licence, ParityError


def parse_args(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, epilog='Exit codes: 0 written; 1 the file differs from its source and is not kept; 2 bad usage or input.')
    parser.add_argument('config', help='config file')
    parser.add_argument('checkpoint', help='checkpoint file')
    parser.add_argument('output', help='the .onnx file to write')
    parser.add_argument('--opset', type=int, default=20, help='version of the ONNX operator set (default: %(default)s)')
    parser.add_argument('--images', nargs='+', default=[], metavar='PATH', help='aligned crops, or folders of them, to check with as well')
    parser.add_argument('--licence-code', default='unknown', metavar='SPDX', help='licence of the code (default: %(default)s)')
    parser.add_argument('--licence-weights', default='unknown', metavar='TERMS', help='licence of the weights (default: %(default)s)')
    parser.add_argument('--licence-data', default='unknown', metavar='TERMS', help='licence of the training images (default: %(default)s)')
    parser.add_argument('--training-set', default='unknown', metavar='NAME', help='what it was trained on (default: %(default)s)')
    parser.add_argument('--cfg-options', nargs='+', action=DictAction, metavar='KEY=VALUE', help='changes to the config')
    return parser.parse_args(argv)


def describe(report: ExportReport) -> str:
    record = report.metadata
    takes, gives = record['input'], record['output']
    return '\n'.join([
        *(f'check    {check}' for check in report.checks),
        f'takes    uint8 {takes["color"]} [B, {takes["size"][0]}, {takes["size"][1]}, 3], aligned to the template {takes["template"]!r}',
        f'inside   (x - {takes["mean"]}) / {takes["std"]}',
        f'gives    {gives["embedding"]} [B, {gives["dim"]}], {"normalised" if gives["normalized"] else "not normalised"}',
        f'licence  {Licence(**record["licence"])}',
        f'trained  on {record["training_set"]}',
        f'model    {record["model_id"]}',
        f'written  {report.path}, opset {report.opset}, {report.path.stat().st_size:,} bytes, SHA-256 {report.sha256}',
    ])


def main(argv: list[str] | None = None) -> int:
    args = parse_args(argv)
    try:
        report = export_model(
            args.config,
            args.checkpoint,
            args.output,
            photos=args.images,
            opset=args.opset,
            licence=Licence(args.licence_code, args.licence_weights, args.licence_data),
            training_set=args.training_set,
            cfg_options=args.cfg_options)
    except ParityError as error:
        print(f'export: {error}\nNothing is left at {args.output}.', file=sys.stderr)
        return 1
    except (ValueError, TypeError, KeyError, SyntaxError, OSError, RuntimeError, ImportError) as error:
        print(f'export: {error}', file=sys.stderr)
        return 2
    print(describe(report))
    return 0


if __name__ == '__main__':
    sys.exit(main())
