"""Writes a trained network as a file that takes uint8 RGB images, says what it is, and has been checked against its source."""
import argparse
import sys

from .arguments import PROVIDERS, add_accept_unverified, add_cfg_options, add_licence_arguments, add_network_argument

PRECISIONS = ('fp32', 'fp16', 'bf16', 'int8')  # the keys of mmface.export.PRECISIONS, which takes seconds to import


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command line."""
    parser.epilog = 'Exit codes: 0 written; 1 the file differs from its source and is not kept; 2 bad usage or input.'
    add_network_argument(parser)
    parser.add_argument('checkpoint', nargs='?', help="the config's checkpoint; none for a model that has its own")
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
    gate.add_argument('--precision', choices=PRECISIONS, default='fp32', help='int8 is calibrated on --images (default: %(default)s)')
    gate.add_argument('--gate-set', metavar='PATH', help='pairs of aligned faces, to measure accuracy and TAR on before and after')
    gate.add_argument('--gate-images', metavar='DIR', help='the folder of their images (default: where the set has them)')
    gate.add_argument('--gate-max-drop', type=float, default=.003, help='largest loss of either, a fraction (default: %(default)s)')
    gate.add_argument('--gate-max-difference', type=float, metavar='X', help='largest relative difference of an embedding')
    gate.add_argument('--gate-min-cosine', type=float, metavar='X', help='smallest cosine between before and after')
    gate.add_argument('--provider', choices=PROVIDERS, default='cpu', help='what runs the checks (default: %(default)s)')
    add_licence_arguments(parser)
    add_accept_unverified(parser)
    parser.add_argument('--thresholds', metavar='JSON', help='what evaluate found with this network, to go into the file')
    add_cfg_options(parser)


def run(args: argparse.Namespace) -> int:
    """Exports and describes the file."""
    from mmface.export import GateError

    from .export_run import describe, export
    try:
        report = export(args)
    except GateError as error:
        print(f'export: {error}\nNothing is left at {args.output}.', file=sys.stderr)
        return 1
    except (TypeError, KeyError, SyntaxError, RuntimeError) as error:
        raise ValueError(str(error)) from error
    print(describe(report))
    return 0
