"""ONNX Runtime, with its failures put into words."""
import ctypes
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import onnx

from mmface.utils import import_onnxruntime

CPU, CUDA, TENSORRT = 'CPUExecutionProvider', 'CUDAExecutionProvider', 'TensorrtExecutionProvider'

PROVIDERS = dict(cpu=(CPU, ), cuda=(CUDA, CPU), tensorrt=(TENSORRT, CUDA, CPU))
"""What a command line calls them; the first is what was asked for, the others take what it cannot do."""

_LIBRARY = {CUDA: 'cuda', TENSORRT: 'tensorrt'}
_WARNINGS, _ERRORS, _NOTHING = 2, 3, 4  # severities of ONNX Runtime's log
_ENGINE_BATCHES = dict(min=1, opt=16, max=64)


def open_session(path: Path,
                 providers: Sequence[str] | None = None,
                 threads: int | None = None,
                 engine_cache: Path | None = None) -> tuple[Any, str]:
    """Loads an ONNX file.

    Warns (RuntimeWarning) where this ONNX Runtime has CUDA, nobody asked for a provider, and CUDA does not start: with the reason.

    Args:
        path: the ``.onnx`` file.
        providers: ONNX Runtime providers in order of preference. Default: CUDA where this ONNX Runtime has it and can start it, then CPU.
        threads: threads within an operator; None leaves it to ONNX Runtime.
        engine_cache: where TensorRT keeps the engines that it takes minutes to build; None builds them at each start.

    Returns:
        An ``onnxruntime.InferenceSession``, and in words what it runs on and why.

    Raises:
        ImportError: ONNX Runtime is not installed.
        FileNotFoundError: no such file.
        ValueError: not an ONNX file, or a provider asked for by name that ONNX Runtime lacks or cannot start.
    """
    onnxruntime = import_onnxruntime()
    if not path.is_file():
        raise FileNotFoundError(f'{path}: no such file, expected an .onnx file')
    available, asked = onnxruntime.get_available_providers(), list(providers or ())
    for provider in asked:
        if provider not in available:
            raise ValueError(f'{path}: {provider} was asked for, but this ONNX Runtime has {", ".join(available)}')
    options = onnxruntime.SessionOptions()
    options.log_severity_level = _ERRORS  # errors come as exceptions; the rest is about the graph, not about the user's work
    if threads is not None:
        options.intra_op_num_threads = threads
    with _quiet(onnxruntime):
        if asked:
            chain = [(name, _engine_options(path, engine_cache) if name == TENSORRT else {}) for name in asked]
            return _as_asked(onnxruntime, path, options, chain), f'{asked[0]}, as asked'
        return _best(onnxruntime, path, options, CUDA in available)


def _as_asked(onnxruntime: ModuleType, path: Path, options: Any, chain: list[tuple[str, dict]]) -> Any:
    session = _load(onnxruntime, path, options, chain)
    for name, _ in chain:
        if name not in session.get_providers():
            raise ValueError(f'{path}: {name} was asked for and does not start ({_reason(onnxruntime, name)})')
    return session


def _best(onnxruntime: ModuleType, path: Path, options: Any, has_cuda: bool) -> tuple[Any, str]:
    if not has_cuda:
        return _load(onnxruntime, path, options, [(CPU, {})]), (
            f'{CPU}, since this ONNX Runtime is built without CUDA (for an NVIDIA GPU, install onnxruntime-gpu in its place)')
    try:
        session, reason = _load(onnxruntime, path, options, [(CUDA, {}), (CPU, {})]), ''
    except ValueError as error:  # a file that is damaged fails again below
        session, reason = _load(onnxruntime, path, options, [(CPU, {})]), str(error)
    if CUDA in session.get_providers():
        return session, f'{CUDA}, since it is there'
    why = f'{CPU}, since CUDA does not start: {reason or _reason(onnxruntime, CUDA)}'
    warnings.warn(f'ONNX Runtime runs on {why}', RuntimeWarning, stacklevel=4)
    return session, why


def _load(onnxruntime: ModuleType, path: Path, options: Any, chain: list[tuple[str, dict]]) -> Any:
    try:  # without ONNX Runtime's own second attempt, which prints to standard output
        return onnxruntime.InferenceSession(str(path), options, providers=chain, enable_fallback=0)
    except Exception as error:  # onnxruntime raises a dozen classes without a common parent of their own
        for name, _ in chain:
            if _missing(onnxruntime, name):
                raise ValueError(f'{path}: {name} does not start ({_missing(onnxruntime, name)})') from error
        raise ValueError(f'{path}: ONNX Runtime cannot load it, is it a complete .onnx file? ({str(error).strip()})') from error


def _reason(onnxruntime: ModuleType, provider: str) -> str:
    return _missing(onnxruntime, provider) or 'its libraries are here: is there an NVIDIA GPU, and does its driver answer (nvidia-smi)?'


def _missing(onnxruntime: ModuleType, provider: str) -> str:
    """In words, which library of a provider is not on this machine; empty where all are, or it needs none."""
    if provider not in _LIBRARY:
        return ''
    folder = Path(onnxruntime.__file__ or '').parent / 'capi'
    try:
        ctypes.CDLL(str(folder / 'libonnxruntime_providers_shared.so'), mode=ctypes.RTLD_GLOBAL)
        ctypes.CDLL(str(folder / f'libonnxruntime_providers_{_LIBRARY[provider]}.so'))
    except OSError as error:
        source = 'it comes with the NVIDIA driver' if 'libcuda.so' in str(error) else (
            'onnxruntime.ai lists under "Execution Providers" the versions of CUDA, cuDNN and TensorRT that it needs')
        return f'{error}; {source}'
    return ''


def _engine_options(path: Path, cache: Path | None) -> dict[str, str]:
    """TensorRT's: engines kept in the folder, and one for all batches up to 64 where the batch is free. Its fp16 stays off."""
    options = {}
    if cache is not None:
        cache.mkdir(parents=True, exist_ok=True)
        options = dict(trt_engine_cache_enable='True', trt_engine_cache_path=str(cache), trt_timing_cache_enable='True')
    try:
        node = onnx.load(path, load_external_data=False).graph.input[0]
    except Exception as error:  # protobuf raises several classes
        raise ValueError(f'{path}: not an ONNX file ({error})') from error
    batch, *sides = (dim.dim_value for dim in node.type.tensor_type.shape.dim)
    if not batch and all(sides):
        for bound, size in _ENGINE_BATCHES.items():
            options[f'trt_profile_{bound}_shapes'] = f'{node.name}:{"x".join(map(str, (size, *sides)))}'
    return options


@contextmanager
def _quiet(onnxruntime: ModuleType) -> Iterator[None]:
    """Without its log lines on standard error about libraries that are not there: that is said in words, once."""
    onnxruntime.set_default_logger_severity(_NOTHING)
    try:
        yield
    finally:
        onnxruntime.set_default_logger_severity(_WARNINGS)
