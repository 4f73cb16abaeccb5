#!/usr/bin/env python
"""Do two photos show the same person? Finds the faces, aligns them, compares them with a network in ONNX format.

    verify.py model.onnx a.jpg b.jpg
    verify.py model.onnx --pairs pairs.csv --json

With a list, each photo is read once.
"""
import argparse
import csv
import json
import sys
from pathlib import Path

from mmface.apis.arguments import (
    add_model_arguments,
    add_photo_arguments,
    add_threshold_arguments,
    open_cropper,
    open_model,
    open_threshold,
)
from mmface.apis.photo import PhotoError
from mmface.apis.verify import CAUTION, Verification, compare_faces, compare_pairs, threshold_text

OK, INPUT, SKIPPED = 0, 2, 3


def parse_args(argv: list[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog=f'{CAUTION}\n\nExit codes: 0 compared, the decision is in the output; 2 bad usage, or a photo or file that cannot be used; '
        '3 compared, but pairs were skipped (--on-error skip).')
    add_model_arguments(parser)
    parser.add_argument('photos', nargs='*', metavar='photo', help='two image files with one face each')
    parser.add_argument('--pairs', type=Path, metavar='CSV', help='instead, a list of pairs: two photos a line, relative to the list')
    parser.add_argument('--on-error', choices=['stop', 'skip'], default='stop',
                        help='what to do about a pair of the list that cannot be used (default: %(default)s)')
    add_photo_arguments(parser)
    add_threshold_arguments(parser)
    parser.add_argument('--json', action='store_true', help='print one JSON object')
    args = parser.parse_args(argv)
    if len(args.photos) != (0 if args.pairs else 2):
        parser.error('give two photos, or a list of pairs with --pairs')
    return args


def read_pairs(path: Path) -> list[tuple[Path, Path]]:
    """The pairs of a CSV file without a header; empty lines are passed over.

    Raises:
        ValueError: a line with another number of columns, or no pair at all.
    """
    pairs = []
    with path.open(newline='', encoding='utf-8-sig') as file:
        lines = csv.reader(file, strict=True)
        try:
            for cells in lines:
                if not cells:
                    continue
                if len(cells) != 2 or not all(cell.strip() for cell in cells):
                    raise ValueError(f'{path}, line {lines.line_num}: expected two paths and a comma between them, got {cells}')
                pairs.append((path.parent / cells[0].strip(), path.parent / cells[1].strip()))
        except (csv.Error, UnicodeDecodeError) as error:
            raise ValueError(f'{path}, line {lines.line_num}: not a CSV file in UTF-8 ({error})') from error
    if not pairs:
        raise ValueError(f'{path}: no pair in it; two paths a line, a comma between them')
    return pairs


def table(results: list[Verification | PhotoError], pairs: list[tuple[Path, Path]]) -> str:
    """The answers for people to read, and how many there are."""
    lines = ['similarity  decision          photos']
    for result, (first, second) in zip(results, pairs, strict=True):
        if isinstance(result, PhotoError):
            lines.append(f'   skipped  {"":<16}  {first}  {second}: {result}')
        else:
            lines.append(f'{result.similarity:10.4f}  {result.decision:<16}  {first}  {second}')
    skipped = sum(isinstance(result, PhotoError) for result in results)
    return '\n'.join([*lines, f'pairs       {len(results) - skipped} compared, {skipped} skipped'])


def main(argv: list[str] | None = None) -> int:
    """Runs the tool and returns its exit code."""
    args = parse_args(argv)
    try:
        embedder = open_model(args)
        threshold = open_threshold(args, embedder)
        pairs = read_pairs(args.pairs) if args.pairs else []
        cropper = open_cropper(args, embedder)
        one = None if args.pairs else compare_faces(embedder, *map(cropper, args.photos), threshold)
        results = compare_pairs(embedder, cropper, pairs, threshold, args.on_error)
    except (ValueError, OSError, ImportError) as error:
        print(json.dumps(dict(error=str(error))) if args.json else f'verify: {error}', file=sys.stdout if args.json else sys.stderr)
        return INPUT
    network = dict(model_id=embedder.model_id, runs_on=embedder.runs_on)
    if one is not None:
        print(json.dumps(one.to_dict() | network) if args.json else f'{one}\nruns on     {embedder.runs_on}\n\n{CAUTION}')
        return OK
    compared = [result.to_dict() for result in results if isinstance(result, Verification)]
    skipped = [dict(pair=[str(photo) for photo in pair], problem=str(result))
               for pair, result in zip(pairs, results, strict=True) if isinstance(result, PhotoError)]  # yapf: disable
    print(json.dumps(dict(pairs=compared, skipped=skipped, threshold=threshold and threshold.value, **network)) if args.json else
          f'{table(results, pairs)}\n{threshold_text(threshold)}\nruns on     {embedder.runs_on}\n\n{CAUTION}')
    return SKIPPED if skipped else OK


if __name__ == '__main__':
    sys.exit(main())
