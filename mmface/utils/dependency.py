"""What has to be installed beside mmface, checked early and said plainly."""
import warnings
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from types import ModuleType

from mmengine.utils import digit_version

MMENGINE = ('0.10.7', '1.0.0')  # at least, below
MMPRETRAIN = ('1.2.0', '2.0.0')
MMCV = ('2.0.0', '2.4.0')


def installed_version(*distributions: str) -> str | None:
    """The version of the first of ``distributions`` that is installed, None where none is."""
    for name in distributions:
        try:
            return version(name)
        except PackageNotFoundError:
            pass
    return None


def require_range(name: str, found: str | None, bounds: tuple[str, str], command: str) -> None:
    """Raises unless ``bounds[0] <= found < bounds[1]``.

    Raises:
        ImportError: naming what was found, the range and the command that installs it.
    """
    least, below = bounds
    if found is None:
        raise ImportError(f'mmface needs {name}>={least},<{below}, which is not installed. Run: {command}')
    if not digit_version(least) <= digit_version(found) < digit_version(below):
        raise ImportError(f'mmface needs {name}>={least},<{below}, but {name} {found} is installed. Run: {command}')


def check_openmmlab() -> None:
    """Checks mmengine, mmpretrain and MMCV (full or lite) without importing the two heavy ones.

    Raises:
        ImportError: where one is absent or outside the range that mmface runs with.
    """
    import mmengine
    require_range('mmengine', mmengine.__version__, MMENGINE, f'pip install "mmengine>={MMENGINE[0]},<{MMENGINE[1]}"')
    lite = f'pip install "mmcv-lite>={MMCV[0]},<{MMCV[1]}"'
    if find_spec('mmcv') is None:
        raise ImportError(f'mmface needs MMCV, which is not installed. Run: {lite}\n'
                          '(or "pip install mmface[lite]"; a full MMCV that you already use elsewhere serves as well, '
                          'but never install both: they overwrite each other)')
    mmcv = installed_version('mmcv', 'mmcv-lite', 'onedl-mmcv')
    if mmcv is not None:  # a source tree on PYTHONPATH has no version to ask for: mmpretrain checks it on import
        require_range('mmcv', mmcv, MMCV, lite)
    mmpretrain = installed_version('mmpretrain', 'onedl-mmpretrain')
    if mmpretrain is not None or find_spec('mmpretrain') is None:
        require_range('mmpretrain', mmpretrain, MMPRETRAIN, f'pip install "mmpretrain>={MMPRETRAIN[0]},<{MMPRETRAIN[1]}"')


def require_extra(package: str, purpose: str, extra: str | None = None) -> None:
    """Checks that an optional package is installed.

    Args:
        package: the module to be imported next.
        purpose: what it is needed for, for the message.
        extra: the extra that brings it. Default: the one of its name.

    Raises:
        ImportError: naming the package and the command that installs it.
    """
    if find_spec(package) is None:
        raise ImportError(f'{package} is not installed, which {purpose} needs. Run: pip install "mmface[{extra or package}]"')


def import_onnxruntime() -> ModuleType:
    """Returns the module ``onnxruntime``.

    Warns (RuntimeWarning) where the CPU and the GPU package are both installed: they write the same files, so which one runs is chance.

    Raises:
        ImportError: where neither is installed, with the two commands to choose from.
    """
    if find_spec('onnxruntime') is None:
        raise ImportError('ONNX Runtime is not installed. Run "pip install onnxruntime", '
                          'or "pip install onnxruntime-gpu" on a machine with an NVIDIA GPU')
    if installed_version('onnxruntime') and installed_version('onnxruntime-gpu'):
        warnings.warn(
            'onnxruntime and onnxruntime-gpu are both installed and overwrite each other. Keep one: '
            'run "pip uninstall -y onnxruntime onnxruntime-gpu", then install the one you want', RuntimeWarning, stacklevel=2)
    import onnxruntime
    return onnxruntime
