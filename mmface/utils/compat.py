"""Mends known faults of MMEngine and mmpretrain with today's torch and setuptools.

:func:`apply` runs once, when ``mmface`` is imported. A module that takes seconds to load is mended when somebody loads it, before they
get to see it. Each mend looks for its fault first and leaves alone what upstream has repaired (MMEngine 0.11.0rc3 has the package
look-ups); the tests show each fault on the stock package, and the mend.
"""
import importlib.util
import os.path as osp
import re
import sys
import warnings
from collections.abc import Callable
from importlib.metadata import distribution
from types import ModuleType

from mmengine.config import utils as config_utils
from mmengine.utils import digit_version, package_utils

from .after_import import after_import
from .dependency import installed_version

UPSTREAM_NOISE = (
    # mmcv-lite has no compiled operators, and nothing here uses one
    ('Fail to import ``MultiScaleDeformableAttention``', UserWarning),
    # MMEngine passes DistributedDataParallel an argument that torch has renamed
    ('`broadcast_buffers` is deprecated', FutureWarning),
    # MMEngine steps the schedule every iteration, with gradient accumulation the optimiser only now and then
    ('Detected call of `scheduler.step()` before `optimizer.step()`', UserWarning),
    # MMEngine reads all metafiles to find one config, and complains of each model that has none: those of other projects
    ('There is not `Config` define in', UserWarning),
)


def apply() -> None:
    """Applies every mend that the installed packages need. Calling it again changes nothing."""
    for message, category in UPSTREAM_NOISE:
        warnings.filterwarnings('ignore', re.escape(message), category)
    config_utils.MODULE2PACKAGE.setdefault('mmface', 'mmface')  # else 'mmface::some_config.py' is refused
    mend_package_lookup()
    mend_multimodal()
    after_import('mmengine.runner.checkpoint', mend_checkpoints)


def replace_everywhere(old: Callable, new: Callable) -> None:
    """Puts ``new`` where any loaded module of MMEngine holds the function ``old`` under its name."""
    for name, module in list(sys.modules.items()):
        if name.partition('.')[0] == 'mmengine' and getattr(module, old.__name__, None) is old:
            setattr(module, old.__name__, new)


def mend_package_lookup() -> None:
    """MMEngine 0.10 needs pkg_resources, which setuptools 82 dropped, for ``_base_='pkg::...'`` and ``mmengine.hub``."""
    if 'pkg_resources' in package_utils.is_installed.__code__.co_names:
        for new in (is_installed, get_installed_path, package2module):
            replace_everywhere(getattr(package_utils, new.__name__), new)


def is_installed(package: str) -> bool:
    """Whether ``package``, a distribution or a module, is installed."""
    return installed_version(package) is not None or _origin(package) is not None


def get_installed_path(package: str) -> str:
    """The folder of the module that the distribution ``package`` brings, editable installs included.

    Raises:
        PackageNotFoundError: where there is neither such a distribution nor such a module.
        RuntimeError: for a namespace package, which has no one folder.
    """
    module = package2module(package)
    origin = _origin(module)
    if origin is None:
        raise RuntimeError(f'{module} is a namespace package or has no files: it has no one folder to look in')
    return osp.dirname(origin)


def package2module(package: str) -> str:
    """The module that ``package`` brings: of its own name, else the first of the distribution's ``top_level.txt``.

    Raises:
        PackageNotFoundError: where there is neither such a distribution nor such a module.
        ValueError: where the distribution does not name its modules.
    """
    if importlib.util.find_spec(package) is not None:
        return package
    names = (distribution(package).read_text('top_level.txt') or '').split()
    if not names:
        raise ValueError(f'cannot infer the module name of {package}: it has no top_level.txt')
    return names[0]


def _origin(module: str) -> str | None:
    spec = importlib.util.find_spec(module)
    return None if spec is None else spec.origin


def mend_multimodal() -> None:
    """With pycocotools, mmpretrain 1.2 imports its multimodal models, whose base classes transformers 5 no longer has."""
    transformers = installed_version('transformers')
    if transformers and digit_version(transformers) >= digit_version('5') and installed_version('pycocotools'):
        after_import('mmpretrain.utils.dependency', leave_out_multimodal)


def leave_out_multimodal(dependency: ModuleType) -> None:
    """Lets mmpretrain believe that the packages for its multimodal models are not installed."""
    dependency.WITH_MULTIMODAL = False  # type: ignore[attr-defined]


def mend_checkpoints(_: ModuleType) -> None:
    """See :mod:`~mmface.utils.compat_checkpoint`."""
    from . import compat_checkpoint
    compat_checkpoint.mend_latest_checkpoint()
    compat_checkpoint.mend_local_loading()
