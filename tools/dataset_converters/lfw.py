"""LFW without one fold as a training set, and that fold as the test.

    python tools/dataset_converters/lfw.py --images lfw112.tar --pairs pairs.txt --out data/lfw_holdout10 --fold 10

writes

    OUT/train.rec, train.idx, property     every image of every person that the fold's pairs do not name
    OUT/classes.tsv                        label TAB person TAB number of images
    OUT/test/<Name>/<Name>_0001.jpg        the images of the fold's pairs
    OUT/test/pairs.txt                     its pairs, cut in the order of the file into ten parts, each with its tenth of the matched and
                                           of the mismatched pairs; unlike LFW's folds, parts may share persons

Everything is written beside OUT and renamed at the end: an interrupted run leaves nothing under that name. Exit codes: 0 done; 2 bad usage
or input.
"""
import argparse
import sys
import tarfile
import tempfile
from pathlib import Path, PurePosixPath

from mmface.apis.lfw_images import PARTS, find_images, group_people, hold_out, read_image
from mmface.datasets.formats import DataFormatError
from mmface.datasets.formats.common.pair_lists import Pair
from mmface.datasets.formats.recordio.writer import write_training_set


def parse_args(argv: list[str] | None = None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--images', type=Path, required=True, help='LFW-layout folder or tar archive of (aligned) images')
    parser.add_argument('--pairs', type=Path, required=True, help="LFW's pairs.txt, with its folds")
    parser.add_argument('--out', type=Path, required=True, help='folder to make; must not exist')
    parser.add_argument('--fold', type=int, default=10, help='the fold to hold out, from 1 (default: %(default)s)')
    parser.add_argument('--min-images', type=int, default=1, help='train on persons with at least so many images (default: %(default)s)')
    return parser.parse_args(argv)


def format_parts(matched: list[Pair], mismatched: list[Pair]) -> str:
    """The text of a list of ten parts."""
    size = len(matched) // PARTS
    lines = [f'{PARTS}\t{size}']
    for at in range(0, len(matched), size):
        lines += [f'{a.person}\t{a.number}\t{b.number}' for a, b, *_ in matched[at:at + size]]
        lines += [f'{a.person}\t{a.number}\t{b.person}\t{b.number}' for a, b, *_ in mismatched[at:at + size]]
    return '\n'.join(lines) + '\n'


def convert(args: argparse.Namespace, out: Path) -> str:
    """Writes both sets into ``out`` and returns what to tell the user."""
    matched, mismatched = hold_out(args.pairs, args.fold)
    images = find_images(args.images)
    tested = sorted({key for pair in matched + mismatched for key in pair[:2]})
    held = {key.person for key in tested}
    missing = [key.stem for key in tested if key not in images]
    if missing:
        raise DataFormatError(args.images, value=f'{len(missing)} images of fold {args.fold} are missing', hint=', '.join(missing[:5]))
    people = group_people(images, held, args.min_images)
    if not people:
        raise DataFormatError(args.images, value='nobody left to train on', hint=f'{len(held)} people are held out; lower --min-images?')

    _, size = read_image(args.images, images[tested[0]])
    identities = ((read_image(args.images, images[key], size)[0] for key in keys) for keys in people.values())
    num_images, num_classes = write_training_set(out / 'train.rec', identities, size)
    (out / 'classes.tsv').write_text(''.join(f'{label}\t{name}\t{len(keys)}\n' for label, (name, keys) in enumerate(people.items())))
    for key in tested:
        target = out / 'test' / (key.stem + PurePosixPath(images[key].name).suffix)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(read_image(args.images, images[key], size)[0])
    (out / 'test' / 'pairs.txt').write_text(format_parts(matched, mismatched))
    return (f'train: {num_images} images of {num_classes} people, {size[0]} x {size[1]}\n'
            f'test: fold {args.fold}, {len(matched)} matched and {len(mismatched)} mismatched pairs of {len(tested)} images of {len(held)} '
            f'people, none of them in the training set\n'
            f'its pairs are cut in file order into {PARTS} parts of {len(matched) // PARTS} + {len(mismatched) // PARTS}; '
            f'parts may share persons')


def main(argv: list[str] | None = None) -> int:
    """Converts, all or nothing."""
    args = parse_args(argv)
    if args.out.exists():
        print(f'lfw.py: {args.out} exists already: remove it or name another folder', file=sys.stderr)
        return 2
    try:
        args.out.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=f'.{args.out.name}-', dir=args.out.parent) as temporary:
            built = Path(temporary) / 'built'
            built.mkdir()
            report = convert(args, built)
            built.rename(args.out)
    except (DataFormatError, OSError, tarfile.TarError) as error:
        print(f'lfw.py: {error}', file=sys.stderr)
        return 2
    print(f'{report}\nwritten to {args.out}')
    return 0


if __name__ == '__main__':
    sys.exit(main())
