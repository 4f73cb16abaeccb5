"""mmface: face recognition in the manner of OpenMMLab.

Importing it checks that the packages it stands on are there, mends their known faults and nothing else: the registries load the parts
when a config first names them, and ``mmface.get_model`` and ``mmface.list_models`` load what they need when they are first asked for.
"""
from typing import TYPE_CHECKING, Any

from .utils.dependency import check_openmmlab
from .version import __version__

check_openmmlab()

from .utils import compat  # noqa: E402  needs what the check is about

compat.apply()

if TYPE_CHECKING:
    from .apis.get_model import get_model, list_models

__all__ = ['__version__', 'get_model', 'list_models']


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
    from . import apis
    return getattr(apis, name)
