#!/usr/bin/env python
"""Writes a trained network as a file that takes uint8 RGB images, says what it is, and has been checked against its source."""
import argparse
import dataclasses
import sys

from mmengine.config import DictAction

from mmface.apis.export_model import export_model
from mmface.apis.onnx_session import PROVIDERS
from mmface.export import PRECISIONS, ExportReport, GateError, GraphOptions, Licence, Precision


def parse_args(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, epilog='Exit codes: 0 written; 1 the file differs from its source and is not kept; 2 bad usage or input.')
    parser.add_argument('config', help='config file')
    parser.add_argument('checkpoint', help='checkpoint file')
    parser.add_argument('output', help='the file to write: .onnx, or .pt2 (torch.export) for those who serve with torch')
    parser.add_argument('--opset', type=int, default=20, help='version of the ONNX operator set (default: %(default)s)')
    parser.add_argument('--images', nargs='+', default=[], metavar='PATH', help='aligned crops, or folders of them, to check with as well')
    shape = parser.add_argument_group('what the file takes and gives')
    shape.add_argument('--layout', choices=['NHWC', 'NCHW'], default='NHWC', help='of the images (default: %(default)s)')
    shape.add_argument('--no-preprocessing', action='store_true', help='take float32, (x - mean) / std, instead of uint8 RGB')
    shape.add_argument('--flip', action='store_true', help='add the embedding of the mirrored image')
    shape.add_argument('--normalize', action='store_true', help='give embeddings of length 1')
    shape.add_argument('--norm', action='store_true', help='give the length too, as a second output')
    gate = parser.add_argument_group('number format, and the gate that the file has to pass')
    gate.add_argument('--precision', choices=list(PRECISIONS), default='fp32', help='int8 is calibrated on --images (default: %(default)s)')
    gate.add_argument('--gate-set', metavar='PATH', help='pairs of aligned faces, to measure accuracy and TAR on before and after')
    gate.add_argument('--gate-images', metavar='DIR', help='the folder of their images (default: where the set has them)')
    gate.add_argument('--gate-max-drop', type=float, default=.003, help='largest loss of either, a fraction (default: %(default)s)')
    gate.add_argument('--gate-max-difference', type=float, metavar='X', help='largest relative difference of an embedding')
    gate.add_argument('--gate-min-cosine', type=float, metavar='X', help='smallest cosine between before and after')
    gate.add_argument('--provider', choices=list(PROVIDERS), default='cpu', help='what runs the checks (default: %(default)s)')
    parser.add_argument('--licence-code', default='unknown', metavar='SPDX', help='licence of the code (default: %(default)s)')
    parser.add_argument('--licence-weights', default='unknown', metavar='TERMS', help='licence of the weights (default: %(default)s)')
    parser.add_argument('--licence-data', default='unknown', metavar='TERMS', help='licence of the training images (default: %(default)s)')
    parser.add_argument('--training-set', default='unknown', metavar='NAME', help='what it was trained on (default: %(default)s)')
    parser.add_argument('--thresholds', metavar='JSON', help='what tools/evaluate.py found with this network, to go into the file')
    parser.add_argument('--cfg-options', nargs='+', action=DictAction, metavar='KEY=VALUE', help='changes to the config')
    return parser.parse_args(argv)


def precision(args: argparse.Namespace) -> Precision:
    """The number format with the limits asked for."""
    limits = dict(max_relative_difference=args.gate_max_difference, min_cosine=args.gate_min_cosine)
    return dataclasses.replace(PRECISIONS[args.precision], **{name: value for name, value in limits.items() if value is not None})


def measured(gate: dict) -> list[str]:
    """The lines about the end metric."""
    found = gate['end_metric']
    if found is None:
        return ['gate     no set of pairs was given (--gate-set): accuracy before and after was not measured']
    lines = [f'gate     {found["set"]}: {found["genuine"]} genuine and {found["impostors"]} impostor pairs']
    for name in ('accuracy', 'tar'):
        if name in found:
            before_after = f'{found[name]["before"]:.2%} before, {found[name]["after"]:.2%} after'
            lines.append(f'{name:<9}{before_after} ({found[name]["only_before"]} pairs lost, {found[name]["only_after"]} won)')
    return lines


def describe(report: ExportReport) -> str:
    record = report.metadata
    takes, gives = record['input'], record['output']
    height, width = takes['size']
    extras = (', of image and mirror image' if gives['flip'] else '') + (', and norm [B]' if gives['norm'] else '')
    return '\n'.join([
        *(f'check    {check}' for check in report.checks),
        *measured(record['gate']),
        f'takes    {takes["dtype"]} {takes["color"]} {takes["layout"]}, {height} x {width}, aligned to the template {takes["template"]!r}',
        f'{"inside" if record["preprocessing_in_graph"] else "outside":<9}(x - {takes["mean"]}) / {takes["std"]}',
        f'gives    {gives["embedding"]} [B, {gives["dim"]}], {"normalised" if gives["normalized"] else "not normalised"}{extras}',
        f'numbers  {record["precision"]}',
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
            thresholds=args.thresholds,
            options=GraphOptions(args.layout, not args.no_preprocessing, args.flip, args.normalize, args.norm),
            precision=precision(args),
            gate_set=args.gate_set,
            gate_images=args.gate_images,
            max_drop=args.gate_max_drop,
            provider=PROVIDERS[args.provider][0],
            cfg_options=args.cfg_options)
    except GateError as error:
        print(f'export: {error}\nNothing is left at {args.output}.', file=sys.stderr)
        return 1
    except (ValueError, TypeError, KeyError, SyntaxError, OSError, RuntimeError, ImportError) as error:
        print(f'export: {error}', file=sys.stderr)
        return 2
    print(describe(report))
    return 0


if __name__ == '__main__':
    sys.exit(main())
