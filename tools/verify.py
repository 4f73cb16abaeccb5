#!/usr/bin/env python
"""Do two photos show the same person? Finds the faces, aligns them, compares them with a network in ONNX format."""
import argparse
import json
import sys

from mmface.apis.face_cropper import FaceCropper
from mmface.apis.face_detector import FaceDetector
from mmface.apis.onnx_backend import OnnxEmbedder
from mmface.apis.threshold import choose_threshold
from mmface.apis.verify import CAUTION, Verification, compare_faces


def parse_args(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog=f'{CAUTION}\n\nExit codes: 0 compared, the decision is in the output; 2 bad usage, or a photo or file that cannot be used.')
    parser.add_argument('model', help='the network: an .onnx file, of ours or any other')
    parser.add_argument('photos', nargs=2, metavar='photo', help='an image file with one face')
    parser.add_argument('--aligned', action='store_true', help='the photos are aligned crops of the size that the network eats')
    parser.add_argument('--largest', action='store_true', help='with several faces in a photo, take the largest')
    parser.add_argument('--detector', help="OpenCV's YuNet detector file (default: fetched once)")
    parser.add_argument('--threshold', type=float, help='cosine similarity from which on it is the same person')
    parser.add_argument('--far', type=float, help='take the threshold that the model file has for this false accept rate, e.g. 1e-3')
    parser.add_argument('--json', action='store_true', help='print one JSON object')
    foreign = parser.add_argument_group('for a network whose file does not say what it needs')
    foreign.add_argument('--mean', type=float, nargs=3, help='per channel, in 0..255, in the order of --color')
    foreign.add_argument('--std', type=float, nargs=3, help='likewise')
    foreign.add_argument('--color', choices=['RGB', 'BGR'], help='channel order')
    foreign.add_argument('--size', type=int, nargs=2, metavar=('HEIGHT', 'WIDTH'), help='of the aligned face in pixels')
    return parser.parse_args(argv)


def compare(args: argparse.Namespace) -> Verification:
    embedder = OnnxEmbedder(args.model, mean=args.mean, std=args.std, color=args.color, size=args.size)
    threshold = choose_threshold(embedder.metadata, args.threshold, args.far)
    template = embedder.metadata.get('input', {}).get('template', 'arcface')
    cropper = FaceCropper(embedder.size, template, None if args.aligned else FaceDetector(args.detector), args.largest)
    first, second = map(cropper, args.photos)
    return compare_faces(embedder, first, second, threshold)


def main(argv: list[str] | None = None) -> int:
    args = parse_args(argv)
    try:
        result = compare(args)
    except (ValueError, OSError, ImportError) as error:
        print(json.dumps(dict(error=str(error))) if args.json else f'verify: {error}', file=sys.stdout if args.json else sys.stderr)
        return 2
    print(json.dumps(result.to_dict()) if args.json else f'{result}\n\n{CAUTION}')
    return 0


if __name__ == '__main__':
    sys.exit(main())
