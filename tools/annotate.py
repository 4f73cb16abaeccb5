#!/usr/bin/env python
"""Makes somebody else's ONNX file usable: frees its batch, writes into it what it needs, and checks the copy against the original."""
import argparse
import sys

import numpy as np

from mmface.apis.face_cropper import FaceCropper
from mmface.apis.photo import photo_files
from mmface.export import Licence, ParityError, Provenance
from mmface.export.annotate import annotate_onnx


def parse_args(argv: list[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, epilog='Exit codes: 0 written; 1 the copy differs from the original and is not kept; 2 bad usage or input.')
    parser.add_argument('model', help='the .onnx file: one input of float [B, 3, H, W] or [B, H, W, 3], one output [B, D]')
    parser.add_argument('output', help='the .onnx file to write')
    parser.add_argument('--mean', type=float, nargs=3, required=True, help='per channel, in 0..255, in the order of --color')
    parser.add_argument('--std', type=float, nargs=3, required=True, help='likewise')
    parser.add_argument('--color', choices=['RGB', 'BGR'], required=True, help='channel order that the network wants')
    parser.add_argument('--size', type=int, nargs=2, metavar=('HEIGHT', 'WIDTH'), default=[112, 112], help='default: %(default)s')
    parser.add_argument('--template', default='arcface', help='landmark template that faces are aligned to (default: %(default)s)')
    parser.add_argument('--images', nargs='+', default=[], metavar='PATH', help='aligned crops, or folders of them, to check with as well')
    parser.add_argument('--licence-code', default='unknown', metavar='SPDX', help='licence of the code (default: %(default)s)')
    parser.add_argument('--licence-weights', default='unknown', metavar='TERMS', help='licence of the weights (default: %(default)s)')
    parser.add_argument('--licence-data', default='unknown', metavar='TERMS', help='licence of the training images (default: %(default)s)')
    parser.add_argument('--training-set', default='unknown', metavar='NAME', help='what it was trained on (default: %(default)s)')
    return parser.parse_args(argv)


def main(argv: list[str] | None = None) -> int:
    """Runs the tool and returns its exit code."""
    args = parse_args(argv)
    try:
        crops = [FaceCropper(args.size, args.template, None)(file).image for file in photo_files(args.images)]
        record = annotate_onnx(
            args.model, args.output, mean=args.mean, std=args.std, color=args.color, size=args.size, template=args.template,
            images=np.stack(crops) if crops else None,
            provenance=Provenance(training_set=args.training_set,
                                  licence=Licence(args.licence_code, args.licence_weights, args.licence_data)))  # yapf: disable
    except ParityError as error:
        print(f'annotate: {error}\nNothing is written to {args.output}.', file=sys.stderr)
        return 1
    except (ValueError, OSError, ImportError) as error:
        print(f'annotate: {error}', file=sys.stderr)
        return 2
    for check in record['gate']['checks']:
        print(f'check    batch {check["batch"]}, {check["images"]} {check["kind"]} images: '
              f'max relative difference {check["max_relative_difference"]:.2e}')
    print(f'licence  {Licence(**record["licence"])}\nmodel    {record["model_id"]}\nwritten  {args.output}')
    return 0


if __name__ == '__main__':
    sys.exit(main())
