"""What is wrong with a data set? Opens it, reads every image once, and lists all that is damaged, doubtful or worth knowing."""
from __future__ import annotations

import argparse
import json
import sys
from contextlib import redirect_stdout
from typing import TYPE_CHECKING

from .arguments import add_colour_arguments

if TYPE_CHECKING:
    from mmface.datasets.doctor import Diagnosis


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command line."""
    parser.epilog = 'Exit codes: 0 fit for use; 1 training or evaluation would fail; 2 bad usage. docs/dataset_doctor.md explains findings.'
    parser.add_argument('path', help='a training set, an evaluation set, one of their lists, a file of embeddings, an image or a folder')
    parser.add_argument('--format', default='auto', help='of the set (default: look)')
    where = parser.add_mutually_exclusive_group()
    where.add_argument('--images', metavar='DIR', help='the folder of the images of a list')
    where.add_argument('--lists-only', action='store_true', help='look at no image')
    parser.add_argument('--size', type=int, nargs=2, metavar=('HEIGHT', 'WIDTH'), help='every image must have this size')
    parser.add_argument('--processes', type=int, help='that look at images (default: one a core)')
    parser.add_argument('--json', action='store_true', help='print one JSON object with all findings')
    overlap = parser.add_argument_group('people of an evaluation set in this training set',
                                        'The last three are for a network whose file does not say what it needs.')
    overlap.add_argument('--model', metavar='ONNX', help='the network to compare them with')
    overlap.add_argument('--against', metavar='EVALSET', help='the evaluation set')
    overlap.add_argument('--threshold', type=float, default=0.5, help='similarity from which on to report (default: %(default)s)')
    add_colour_arguments(overlap)


def run(args: argparse.Namespace) -> int:
    """Examines a set and prints what it found."""
    if bool(args.model) != bool(args.against):
        args.refuse('--model and --against need each other')
    with redirect_stdout(sys.stderr):  # what others print is no part of the report
        diagnosis = diagnose(args)
    print(json.dumps(diagnosis.to_dict(), ensure_ascii=False, indent=1) if args.json else diagnosis)
    return 0 if diagnosis.trainable else 1


def diagnose(args: argparse.Namespace) -> Diagnosis:
    """Examines the set and, where asked for, looks for people of another in it."""
    from mmface.apis.identity_overlap import find_overlap
    from mmface.apis.open_embedder import open_embedder
    from mmface.datasets import open_records
    from mmface.datasets.doctor import Finding, examine
    from mmface.datasets.formats import EVALS
    from mmface.utils.progress import Progress
    found = examine(args.path, args.format, args.images, args.lists_only, args.size, args.processes)
    if not args.model:
        return found
    if not found.trainable:
        note = Finding('info', 'overlap', args.path, '', 'not looked for', 'mend the errors first')
        return found.with_findings([note])
    embedder = open_embedder(args.model, mean=args.mean, std=args.std, color=args.color, size=args.size)
    records, images = open_records(args.path, args.format), EVALS.open(args.against)
    with Progress('images embedded', None) as progress:
        candidates = find_overlap(embedder, records, images, args.threshold, progress=progress.advance)
    return found.with_findings(candidates)
