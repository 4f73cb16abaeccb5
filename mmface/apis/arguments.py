"""Command-line arguments that several tools share."""
import argparse
from pathlib import Path

from mmface.evaluation import read_thresholds

from .face_cropper import FaceCropper
from .face_detector import FaceDetector
from .onnx_backend import OnnxEmbedder
from .onnx_session import PROVIDERS
from .threshold import Threshold, choose_threshold


def add_model_arguments(parser: argparse.ArgumentParser) -> None:
    """The network, what runs it, and what a file that does not say it needs to be told."""
    parser.add_argument('model', help='the network: an .onnx file, of ours or any other')
    running = parser.add_argument_group('running the network')
    running.add_argument('--provider', choices=list(PROVIDERS), help='what runs it (default: CUDA where it is there, else the CPU)')
    running.add_argument('--threads', type=int, help="of ONNX Runtime within an operator (default: ONNX Runtime's)")
    running.add_argument('--engine-cache', type=Path, metavar='DIR',
                         help='where TensorRT keeps its engines, which take minutes to build (default: builds them each time)')
    add_input_arguments(parser)


def add_input_arguments(parser: argparse.ArgumentParser) -> None:
    """What a file that does not say what it needs has to be told."""
    foreign = parser.add_argument_group('for a network whose file does not say what it needs')
    foreign.add_argument('--mean', type=float, nargs=3, help='per channel, in 0..255, in the order of --color')
    foreign.add_argument('--std', type=float, nargs=3, help='likewise')
    foreign.add_argument('--color', choices=['RGB', 'BGR'], help='channel order')
    foreign.add_argument('--size', type=int, nargs=2, metavar=('HEIGHT', 'WIDTH'), help='of the aligned face in pixels')


def add_photo_arguments(parser: argparse.ArgumentParser) -> None:
    """How the face of a photo is found."""
    photos = parser.add_argument_group('photos')
    photos.add_argument('--aligned', action='store_true', help='they are aligned crops of the size that the network eats')
    photos.add_argument('--largest', action='store_const', const='largest', default='only', dest='choice',
                        help='with several faces in a photo, take the largest')
    photos.add_argument('--detector', help="OpenCV's YuNet detector file (default: fetched once)")


def add_threshold_arguments(parser: argparse.ArgumentParser) -> None:
    """From which similarity on two faces are taken for one person's."""
    deciding = parser.add_argument_group('deciding')
    deciding.add_argument('--threshold', type=float, help='cosine similarity from which on it is the same person')
    deciding.add_argument('--far', type=float, help='take the threshold that the file has for this false accept rate, e.g. 1e-3')
    deciding.add_argument('--thresholds', metavar='JSON', help='thresholds that tools/evaluate.py found (default: those in the model file)')


def open_model(args: argparse.Namespace) -> OnnxEmbedder:
    """The network of :func:`add_model_arguments`."""
    return OnnxEmbedder(args.model, PROVIDERS.get(args.provider), args.threads, mean=args.mean, std=args.std, color=args.color,
                        size=args.size, engine_cache=args.engine_cache)


def open_cropper(args: argparse.Namespace, embedder: OnnxEmbedder) -> FaceCropper:
    """What cuts faces out for a network, by :func:`add_photo_arguments`."""
    return FaceCropper(embedder.size, embedder.template, None if args.aligned else FaceDetector(args.detector), args.choice)


def open_threshold(args: argparse.Namespace, embedder: OnnxEmbedder) -> Threshold | None:
    """The threshold for a network, by :func:`add_threshold_arguments`; None where nobody says."""
    if args.thresholds is None:
        return choose_threshold(embedder.metadata, args.threshold, args.far)
    return choose_threshold(read_thresholds(args.thresholds, embedder.model_id), args.threshold, args.far, args.thresholds)
