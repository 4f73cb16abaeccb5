"""Command-line arguments that several tools share."""
import argparse

from .face_cropper import FaceCropper
from .face_detector import FaceDetector
from .onnx_backend import OnnxEmbedder


def add_model_arguments(parser: argparse.ArgumentParser) -> None:
    """The network, and what a file that does not say it needs to be told."""
    parser.add_argument('model', help='the network: an .onnx file, of ours or any other')
    foreign = parser.add_argument_group('for a network whose file does not say what it needs')
    foreign.add_argument('--mean', type=float, nargs=3, help='per channel, in 0..255, in the order of --color')
    foreign.add_argument('--std', type=float, nargs=3, help='likewise')
    foreign.add_argument('--color', choices=['RGB', 'BGR'], help='channel order')
    foreign.add_argument('--size', type=int, nargs=2, metavar=('HEIGHT', 'WIDTH'), help='of the aligned face in pixels')


def add_photo_arguments(parser: argparse.ArgumentParser) -> None:
    """How the face of a photo is found."""
    parser.add_argument('--aligned', action='store_true', help='the photos are aligned crops of the size that the network eats')
    parser.add_argument('--largest', action='store_true', help='with several faces in a photo, take the largest')
    parser.add_argument('--detector', help="OpenCV's YuNet detector file (default: fetched once)")


def open_model(args: argparse.Namespace) -> OnnxEmbedder:
    """The network of :func:`add_model_arguments`."""
    return OnnxEmbedder(args.model, mean=args.mean, std=args.std, color=args.color, size=args.size)


def open_cropper(args: argparse.Namespace, embedder: OnnxEmbedder) -> FaceCropper:
    """What cuts faces out for a network, by :func:`add_photo_arguments`."""
    return FaceCropper(embedder.size, embedder.template, None if args.aligned else FaceDetector(args.detector), args.largest)
