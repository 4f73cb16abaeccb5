"""Makes somebody else's ONNX file usable: frees its batch, writes into it what it needs, and checks the copy against the original."""
import argparse
import sys

from .arguments import add_colour_arguments, add_licence_arguments


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command line."""
    parser.epilog = 'Exit codes: 0 written; 1 the copy differs from the original and is not kept; 2 bad usage or input.'
    parser.add_argument('model', help='the .onnx file: one input of float [B, 3, H, W] or [B, H, W, 3], one output [B, D]')
    parser.add_argument('output', help='the .onnx file to write')
    add_colour_arguments(parser, required=True)
    parser.add_argument('--size', type=int, nargs=2, metavar=('HEIGHT', 'WIDTH'), default=[112, 112], help='default: %(default)s')
    parser.add_argument('--template', default='arcface', help='landmark template that faces are aligned to (default: %(default)s)')
    parser.add_argument('--images', nargs='+', default=[], metavar='PATH', help='aligned crops, or folders of them, to check with as well')
    add_licence_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Writes the annotated copy."""
    import numpy as np

    from mmface.apis.face_cropper import FaceCropper
    from mmface.apis.photo import photo_files
    from mmface.export import Licence, ParityError, Provenance
    from mmface.export.annotate import annotate_onnx
    crops = [FaceCropper(args.size, args.template, None)(file).image for file in photo_files(args.images)]
    licence = Licence(args.licence_code, args.licence_weights, args.licence_data)
    try:
        record = annotate_onnx(
            args.model, args.output, mean=args.mean, std=args.std, color=args.color, size=args.size, template=args.template,
            images=np.stack(crops) if crops else None, provenance=Provenance(training_set=args.training_set, licence=licence))
    except ParityError as error:
        print(f'annotate: {error}\nNothing is written to {args.output}.', file=sys.stderr)
        return 1
    for check in record['gate']['checks']:
        print(f'check    batch {check["batch"]}, {check["images"]} {check["kind"]} images: '
              f'max relative difference {check["max_relative_difference"]:.2e}')
    print(f'licence  {Licence(**record["licence"])}\nmodel    {record["model_id"]}\nwritten  {args.output}')
    return 0
