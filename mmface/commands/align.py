"""A tree of photos becomes a tree of aligned faces.

align PHOTOS ALIGNED writes ALIGNED/<same path>.jpg for every photo in which a face is found, turned upright as its EXIF orientation
says, and

    ALIGNED/align_report.json     counts, the photos without a crop and why, the photos with several faces
    ALIGNED/align_journal.jsonl   what became of each photo: an interrupted run goes on where it was, by the same command

Of several faces in a photo the one nearest to the middle is taken; --faces largest takes the largest, --faces only skips such photos. A
detector of one's own is a function in an importable module that takes an RGB photo, uint8 [H, W, 3], and returns five points (x, y): left
eye, right eye, nose, left and right mouth corner as seen in the image, [5, 2], or [F, 5, 2] of several faces, or None.
"""
import argparse
import os
import sys
from pathlib import Path

from mmface.functional.geometry import TEMPLATES

CHOICES = ('only', 'largest', 'central')  # the keys of mmface.apis.face_cropper.CHOICES, which takes seconds to import


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command line."""
    parser.epilog = 'Exit codes: 0 every photo became a crop; 2 bad usage or input; 3 done, photos were skipped: the report says which.'
    parser.add_argument('photos', type=Path, help='folder of photos, with folders in it')
    parser.add_argument('out', type=Path, help='folder of the crops')
    parser.add_argument('--size', type=int, nargs=2, metavar=('HEIGHT', 'WIDTH'), default=(112, 112), help='in pixels (default: 112 112)')
    parser.add_argument('--template', choices=TEMPLATES, default='arcface', help='where the points belong (default: %(default)s)')
    parser.add_argument('--faces', choices=CHOICES, default='central', help='of several in a photo, which to take (default: %(default)s)')
    parser.add_argument('--detector', default='yunet', help="'yunet' or 'module:function' (default: %(default)s)")
    parser.add_argument('--detector-file', help="YuNet's ONNX file (default: fetched once)")
    parser.add_argument('--png', action='store_true', help='write PNG in place of JPEG of quality 95')
    parser.add_argument('--workers', type=int, default=os.cpu_count() or 1, help='processes (default: one a core)')


def run(args: argparse.Namespace) -> int:
    """Aligns the photos and says what became of them."""
    from mmface.apis.align_photos import REPORT, AlignSettings, align_photos
    settings = AlignSettings(
        tuple(args.size), args.template, args.detector, args.detector_file, args.faces, '.png' if args.png else '.jpg')
    report = align_photos(args.photos, args.out, settings, args.workers)
    for what, count in report['counts'].items():
        print(f'{what.replace("_", " "):24} {count:8}')
    for entry in report['skipped'][:10]:
        print(f'{args.photos / entry["photo"]}: {entry["message"]}', file=sys.stderr)
    if len(report['skipped']) > 10:
        print(f'... all {len(report["skipped"])} are in {args.out / REPORT}', file=sys.stderr)
    return 3 if report['skipped'] else 0
