"""Arguments that several commands share, and the objects that they describe."""
from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mmface.utils.dict_action import DictAction

from .completers import complete_config, complete_network

if TYPE_CHECKING:
    from mmface.apis.face_cropper import FaceCropper
    from mmface.apis.open_embedder import Embedder
    from mmface.apis.threshold import Threshold

PROVIDERS = ('cpu', 'cuda', 'tensorrt')  # the keys of mmface.apis.onnx_session.PROVIDERS, which takes seconds to import


def add_config_argument(parser: argparse.ArgumentParser) -> None:
    """The config, a file or one of the package's."""
    config = parser.add_argument('config', help='config file, or the name of a config of the package')
    config.completer = complete_config  # type: ignore[attr-defined]


def add_network_argument(parser: argparse.ArgumentParser) -> None:
    """A network, whatever it is given by."""
    network = parser.add_argument('model', help='config file, or the name of a config; a converted .safetensors; or a name of the zoo')
    network.completer = complete_network  # type: ignore[attr-defined]


def add_cfg_options(parser: argparse._ActionsContainer) -> None:
    """Changes to the config."""
    parser.add_argument('--cfg-options', nargs='+', action=DictAction, metavar='KEY=VALUE', help='change the config, as in a.b=1 c="[1,2]"')


def add_launcher_arguments(parser: argparse.ArgumentParser) -> None:
    """What a training or test among several processes is told."""
    add_cfg_options(parser)
    parser.add_argument('--launcher', choices=['none', 'pytorch', 'slurm', 'mpi'], default='none', help='what started this process')
    parser.add_argument('--local_rank', '--local-rank', type=int, default=0, help='given by torch.distributed.launch')


def add_model_arguments(parser: argparse.ArgumentParser) -> None:
    """The network, what runs it, and what a file that does not say it needs to be told."""
    model = parser.add_argument('model', help='the network: any .onnx file, a converted .safetensors, or a name of the zoo')
    model.completer = complete_network  # type: ignore[attr-defined]
    running = parser.add_argument_group('running the network')
    running.add_argument('--provider', choices=PROVIDERS, help='what runs it (default: CUDA where it is there, else the CPU)')
    running.add_argument('--threads', type=int, help="of ONNX Runtime within an operator (default: ONNX Runtime's)")
    running.add_argument('--engine-cache', type=Path, metavar='DIR',
                         help='where TensorRT keeps its engines, which take minutes to build (default: builds them each time)')
    add_accept_unverified(running)
    add_input_arguments(parser)


def add_accept_unverified(parser: argparse._ActionsContainer) -> None:
    """For networks of the zoo that nobody vouches for."""
    parser.add_argument('--accept-unverified', action='store_true',
                        help='take weights of the zoo whose author publishes no hash as they come, and pin the hash seen')


def add_input_arguments(parser: argparse.ArgumentParser) -> None:
    """What a file that does not say what it needs has to be told."""
    foreign = parser.add_argument_group('for a network whose file does not say what it needs')
    add_colour_arguments(foreign)
    foreign.add_argument('--size', type=int, nargs=2, metavar=('HEIGHT', 'WIDTH'), help='of the aligned face in pixels')


def add_colour_arguments(parser: argparse._ActionsContainer, required: bool = False) -> None:
    """How a network's numbers come of a picture."""
    parser.add_argument('--mean', type=float, nargs=3, required=required, help='per channel, in 0..255, in the order of --color')
    parser.add_argument('--std', type=float, nargs=3, required=required, help='likewise')
    parser.add_argument('--color', choices=['RGB', 'BGR'], required=required, help='channel order that the network wants')


def add_licence_arguments(parser: argparse.ArgumentParser) -> None:
    """Where a network comes from and what it may be used for."""
    group = parser.add_argument_group('what the file says of its origin')
    group.add_argument('--licence-code', default='unknown', metavar='SPDX', help='licence of the code (default: %(default)s)')
    group.add_argument('--licence-weights', default='unknown', metavar='TERMS', help='licence of the weights (default: %(default)s)')
    group.add_argument('--licence-data', default='unknown', metavar='TERMS', help='licence of the training images (default: %(default)s)')
    group.add_argument('--training-set', default='unknown', metavar='NAME', help='what it was trained on (default: %(default)s)')


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
    deciding.add_argument('--thresholds', metavar='JSON', help='thresholds that evaluate found (default: those in the model file)')


def open_model(args: argparse.Namespace) -> Embedder:
    """The network of :func:`add_model_arguments`."""
    from mmface.apis.onnx_session import PROVIDERS as CHAINS
    return open_network(args.model, args, providers=CHAINS.get(args.provider), engine_cache=args.engine_cache)


def open_network(model: str, args: argparse.Namespace, **options: Any) -> Embedder:
    """A network that brings its weights.

    Raises:
        ValueError: a config, which has none.
    """
    from mmface.apis.open_embedder import open_embedder
    if model.endswith('.py'):
        raise ValueError(f'{model} is a config without weights: export it with its checkpoint first')
    return open_embedder(model, accept_unverified=args.accept_unverified, threads=args.threads, mean=args.mean, std=args.std,
                         color=args.color, size=args.size, **options)  # yapf: disable


def open_cropper(args: argparse.Namespace, embedder: Embedder) -> FaceCropper:
    """What cuts faces out for a network, by :func:`add_photo_arguments`."""
    from mmface.apis.face_cropper import FaceCropper
    from mmface.apis.face_detector import FaceDetector
    return FaceCropper(embedder.size, embedder.template, None if args.aligned else FaceDetector(args.detector), args.choice)


def open_threshold(args: argparse.Namespace, embedder: Embedder) -> Threshold | None:
    """The threshold for a network, by :func:`add_threshold_arguments`; None where nobody says."""
    from mmface.apis.threshold import choose_threshold
    from mmface.evaluation import read_thresholds
    if args.thresholds is None:
        return choose_threshold(embedder.metadata, args.threshold, args.far)
    return choose_threshold(read_thresholds(args.thresholds, embedder.model_id), args.threshold, args.far, args.thresholds)
