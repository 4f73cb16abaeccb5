"""ONNX Runtime, with its failures put into words."""
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mmface.utils import import_onnxruntime

_CHAIN = ('CUDAExecutionProvider', 'CPUExecutionProvider')


def open_session(path: Path, providers: Sequence[str] | None = None, threads: int | None = None) -> Any:
    """Loads an ONNX file.

    Args:
        path: the ``.onnx`` file.
        providers: ONNX Runtime providers in order of preference. Default: CUDA where this ONNX Runtime has it and can start it, then CPU.
        threads: threads within an operator; None leaves it to ONNX Runtime.

    Returns:
        An ``onnxruntime.InferenceSession``.

    Raises:
        ImportError: ONNX Runtime is not installed.
        FileNotFoundError: no such file.
        ValueError: not an ONNX file, or a provider asked for by name that ONNX Runtime lacks or cannot start.
    """
    onnxruntime = import_onnxruntime()
    if not path.is_file():
        raise FileNotFoundError(f'{path}: no such file, expected an .onnx file')
    available = onnxruntime.get_available_providers()
    asked = list(providers or ())
    _refuse_missing(path, asked, available, 'has')
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3  # errors come as exceptions; the rest is about the graph, not about the user's work
    if threads is not None:
        options.intra_op_num_threads = threads
    try:
        session = onnxruntime.InferenceSession(str(path), options, providers=asked or [p for p in _CHAIN if p in available])
    except Exception as error:  # onnxruntime raises a dozen classes without a common parent of their own
        raise ValueError(f'{path}: ONNX Runtime cannot load it, is it a complete .onnx file? ({str(error).strip()})') from error
    _refuse_missing(path, asked, session.get_providers(), 'could only start')
    return session


def _refuse_missing(path: Path, asked: list[str], found: list[str], has: str) -> None:
    missing = [provider for provider in asked if provider not in found]
    if missing:
        raise ValueError(f'{path}: {", ".join(missing)} was asked for, but this ONNX Runtime {has} {", ".join(found)}')
