"""Procedural faces as a training set, and a pair set of people who are not in it: no download, no licence.

    python tools/dataset_converters/procedural.py --out data/procedural

writes

    OUT/train.rec, train.idx, property     --pictures of each of --people
    OUT/test/<Name>/<Name>_0001.jpg        --test-pictures of each of --test-people
    OUT/test/pairs.txt                     --pairs of them in --folds, half genuine; no person is in two folds and no pair occurs twice

The same arguments give the same files. Everything is written beside OUT and renamed at the end. Exit codes: 0 done; 2 bad usage.
"""
import argparse
import sys
import tempfile
from dataclasses import fields
from pathlib import Path

from mmface.datasets.procedural import SetSizes, write_sets


def parse_args(argv: list[str] | None = None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--out', type=Path, required=True, help='folder to make; must not exist')
    parser.add_argument('--seed', type=int, default=0, help='of people, pictures and pairs (default: %(default)s)')
    for field in fields(SetSizes):
        parser.add_argument(f'--{field.name.replace("_", "-")}', type=int, default=field.default, help='(default: %(default)s)')
    return parser.parse_args(argv)


def main(argv: list[str] | None = None) -> int:
    """Writes, all or nothing."""
    args = parse_args(argv)
    try:
        if args.out.exists():
            raise FileExistsError(f'{args.out} exists already: remove it or name another folder')
        sizes = SetSizes(**{field.name: getattr(args, field.name) for field in fields(SetSizes)})
        args.out.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=f'.{args.out.name}-', dir=args.out.parent) as temporary:
            write_sets(Path(temporary) / 'built', args.seed, sizes)
            (Path(temporary) / 'built').rename(args.out)
    except (ValueError, OSError) as error:
        print(f'procedural.py: {error}', file=sys.stderr)
        return 2
    print(f'train: {sizes.people * sizes.pictures} images of {sizes.people} people\n'
          f'test: {sizes.pairs} pairs of {sizes.test_people * sizes.test_pictures} images of {sizes.test_people} others\n'
          f'written to {args.out}')
    return 0


if __name__ == '__main__':
    sys.exit(main())
