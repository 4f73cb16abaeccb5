"""Do two photos show the same person? Finds the faces, aligns them, compares them with a network in ONNX format.

    verify model.onnx a.jpg b.jpg
    verify model.onnx --pairs pairs.csv --json

With a list, each photo is read once.
"""
import argparse
import json
from pathlib import Path

from mmface.utils.caution import CAUTION

from .arguments import add_model_arguments, add_photo_arguments, add_threshold_arguments


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command line."""
    parser.epilog = (f'{CAUTION}\n\nExit codes: 0 compared, the decision is in the output; 2 bad usage, or a photo or file that cannot be\n'
                     'used; 3 compared, but pairs were skipped (--on-error skip).')
    add_model_arguments(parser)
    parser.add_argument('photos', nargs='*', metavar='photo', help='two image files with one face each')
    parser.add_argument('--pairs', type=Path, metavar='CSV', help='instead, a list of pairs: two photos a line, relative to the list')
    parser.add_argument('--on-error', choices=['stop', 'skip'], default='stop',
                        help='what to do about a pair of the list that cannot be used (default: %(default)s)')
    add_photo_arguments(parser)
    add_threshold_arguments(parser)
    parser.add_argument('--json', action='store_true', help='print one JSON object')


def run(args: argparse.Namespace) -> int:
    """Compares and prints."""
    if len(args.photos) != (0 if args.pairs else 2):
        args.refuse('give two photos, or a list of pairs with --pairs')
    from .verify_run import verify, verify_list
    try:
        return verify_list(args) if args.pairs else verify(args)
    except (ValueError, OSError, ImportError) as error:
        if not args.json or isinstance(error, BrokenPipeError):
            raise
        print(json.dumps(dict(error=str(error))))
        return 2
