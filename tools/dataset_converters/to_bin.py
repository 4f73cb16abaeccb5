"""Any set of pairs that mmface reads as a .bin pack, which InsightFace's and AdaFace's trainers evaluate on.

    python tools/dataset_converters/to_bin.py data/CFP cfp_fp.bin --options protocol=FP
    python tools/dataset_converters/to_bin.py data/lfw/pairs.txt lfw.bin --images data/lfw-aligned-112

Pairs are written fold after fold, since readers of packs take contiguous tenths for the folds; where the set's folds are no such tenths,
that is said. Images are copied as they are stored, after a look whether they decode and have one size. The pack appears under its name
when it is whole. Exit codes: 0 done; 2 bad usage or input.
"""
import argparse
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from mmface.datasets.decode import decode_image
from mmface.datasets.formats import EVALS, DataFormatError, DataFormatWarning
from mmface.datasets.formats.common.folds import contiguous_folds
from mmface.datasets.formats.pair_pack.writer import write_pair_pack
from mmface.structures import PairSet
from mmface.utils.command import run_command
from mmface.utils.dict_action import DictAction


def parse_args(argv: list[str] | None = None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('source', type=Path, help='the set of pairs')
    parser.add_argument('out', type=Path, help='the .bin to write; must not exist')
    parser.add_argument('--format', default='auto', help='of the source (default: %(default)s)')
    parser.add_argument('--images', help='the folder of the images (default: where the format has them)')
    parser.add_argument('--options', nargs='+', action=DictAction, default={}, metavar='KEY=VALUE', help='of the reader: race=Asian')
    return parser.parse_args(argv)


def read_image(reader: Any, index: int, size: tuple[int, ...] | None) -> tuple[bytes, tuple[int, ...]]:
    """The encoded image and its height and width. Stored pixels become PNG.

    Raises:
        DataFormatError: where it does not decode, or has another size than ``size``.
    """
    data = reader.read(index)
    try:
        pixels = decode_image(data)
    except ValueError as error:
        raise DataFormatError(reader.path, reader.where(index), str(error), 'replace or remove it') from None
    if size not in (None, pixels.shape[:2]):
        raise DataFormatError(reader.path, reader.where(index), f'{pixels.shape[0]} x {pixels.shape[1]} pixels',
                              f'others have {size[0]} x {size[1]}: align them all')
    encoded = cv2.imencode('.png', pixels[..., ::-1])[1] if isinstance(data, np.ndarray) else data
    return bytes(encoded), pixels.shape[:2]


def read_pairs(reader: Any) -> Iterator[tuple[bytes, bytes, bool]]:
    """The pairs, fold after fold, with their encoded images."""
    size = None
    for row in np.argsort(reader.set.fold, kind='stable'):
        images = []
        for index in reader.set.pairs[row].tolist():
            image, size = read_image(reader, index, size)
            images.append(image)
        yield *images, bool(reader.set.same[row])


def convert(args: argparse.Namespace) -> None:
    """Writes the pack and tells what is in it."""
    if args.out.exists():
        raise FileExistsError(f'{args.out} exists already: remove it or name another file')
    reader = EVALS.open(args.source, args.format, **({'images': args.images} if args.images else {}), **args.options)
    if not isinstance(reader.set, PairSet):
        raise DataFormatError(args.source, value=f'a {type(reader.set).__name__}', hint='a pack holds pairs only')
    fold = np.sort(reader.set.fold)
    if not np.array_equal(fold, contiguous_folds(len(fold))):
        value = f'{fold[-1] + 1} folds of {", ".join(map(str, np.unique(np.bincount(fold))))} pairs'
        warnings.warn(DataFormatWarning(args.out, value=value, hint='readers of packs will take contiguous tenths instead'), stacklevel=2)
    args.out.parent.mkdir(parents=True, exist_ok=True)
    count = write_pair_pack(args.out, read_pairs(reader))
    print(f'{args.out}: {count} pairs, {reader.set.same.sum()} of them genuine')


def main(argv: list[str] | None = None) -> int:
    """Converts, all or nothing."""
    args = parse_args(argv)
    return run_command('to_bin.py', lambda: convert(args))


if __name__ == '__main__':
    sys.exit(main())
