"""A folder of aligned faces becomes a training set and a pair set of people who are not in it.

split ALIGNED OUT copies ALIGNED/<person>/* into

    OUT/faces/<person>/*             to train on
    OUT/pairs/<Name>/<Name>_0001.jpg and OUT/pairs/pairs.txt, in LFW's layout: to test with
"""
import argparse
from pathlib import Path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command line."""
    parser.epilog = 'Exit codes: 0 written; 2 bad usage or input, nothing is written.'
    parser.add_argument('aligned', type=Path, help='folder of aligned faces, a directory a person')
    parser.add_argument('out', type=Path, help='folder to make; must not exist')
    parser.add_argument('--people', type=int, help='to test with (default: a fifth, at least two a fold)')
    parser.add_argument('--pairs', type=int, default=3000, help='at most, half of them genuine (default: %(default)s)')
    parser.add_argument('--folds', type=int, default=10, help='no person is in two (default: %(default)s)')
    parser.add_argument('--seed', type=int, default=0, help='of the draw (default: %(default)s)')


def run(args: argparse.Namespace) -> int:
    """Splits, and says what to tell the training."""
    from mmface.apis.split_people import split_people
    made = split_people(args.aligned, args.out, args.people, args.pairs, args.folds, args.seed)
    print(f'train: {made.train_images} images of {made.train_people} people (model.head.num_classes={made.train_people})\n'
          f'test: {made.pairs} pairs of {made.test_people} others in {made.folds} folds\nwritten to {args.out}')
    return 0
