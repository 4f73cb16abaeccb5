"""What the command ``verify`` does once it knows what is wanted."""
import argparse
import csv
import json
from pathlib import Path

from mmface.apis.photo import PhotoError
from mmface.apis.verify import Verification, compare_faces, compare_pairs, threshold_text
from mmface.utils.caution import CAUTION

from .arguments import open_cropper, open_model, open_threshold


def verify(args: argparse.Namespace) -> int:
    """Compares two photos."""
    embedder = open_model(args)
    threshold = open_threshold(args, embedder)
    first, second = map(open_cropper(args, embedder), args.photos)
    result = compare_faces(embedder, first, second, threshold)
    print(json.dumps(result.to_dict() | dict(model_id=embedder.model_id, runs_on=embedder.runs_on)) if args.json else
          f'{result}\nruns on     {embedder.runs_on}\n\n{CAUTION}')
    return 0


def verify_list(args: argparse.Namespace) -> int:
    """Compares the pairs of a list."""
    embedder = open_model(args)
    threshold = open_threshold(args, embedder)
    pairs = read_pairs(args.pairs)
    results = compare_pairs(embedder, open_cropper(args, embedder), pairs, threshold, args.on_error)
    compared = [result.to_dict() for result in results if isinstance(result, Verification)]
    skipped = [dict(pair=[str(photo) for photo in pair], problem=str(result))
               for pair, result in zip(pairs, results, strict=True) if isinstance(result, PhotoError)]  # yapf: disable
    network = dict(model_id=embedder.model_id, runs_on=embedder.runs_on)
    print(json.dumps(dict(pairs=compared, skipped=skipped, threshold=threshold and threshold.value, **network)) if args.json else
          f'{table(results, pairs)}\n{threshold_text(threshold)}\nruns on     {embedder.runs_on}\n\n{CAUTION}')
    return 3 if skipped else 0


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
