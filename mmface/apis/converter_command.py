"""The command line that all converters of training sets share."""
import argparse
from collections.abc import Callable
from pathlib import Path

from mmface.datasets import open_records
from mmface.datasets.formats.reader import Records
from mmface.utils.command import run_command
from mmface.utils.dict_action import DictAction


def converter_parser(description: str | None) -> argparse.ArgumentParser:
    """A parser with the arguments that every converter takes; one may add its own."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('source', help='the training set')
    parser.add_argument('out', type=Path, help='folder to make; must not exist')
    parser.add_argument('--format', default='auto', help='of the source (default: %(default)s)')
    parser.add_argument('--options', nargs='+', action=DictAction, default={}, metavar='KEY=VALUE', help='of the reader: labels=name')
    parser.add_argument('--max-skipped', type=float, default=0., help='share of images that may be broken (default: %(default)s)')
    parser.add_argument('--workers', type=int, help='threads (default: as many as there are processors)')
    return parser


def run_converter(name: str, args: argparse.Namespace, write: Callable[[Records], int]) -> int:
    """Opens the source, calls ``write`` and says what was done.

    Args:
        name: of the program, for messages.
        args: what :func:`converter_parser` parsed.
        write: converts and returns how many images were skipped.

    Returns:
        The exit code: 0 done; 2 bad usage or input; 3 done, but images were skipped.
    """
    skipped = 0

    def convert() -> None:
        nonlocal skipped
        records = open_records(args.source, args.format, **args.options)
        skipped = write(records)
        print(f'{len(records) - skipped} images of {records.num_classes} classes written to {args.out}'  # noqa: T201
              + f', {skipped} skipped, see skipped.tsv' * (skipped > 0))

    return run_command(name, convert) or (3 if skipped else 0)
