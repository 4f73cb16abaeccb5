"""mmface: face recognition in the manner of OpenMMLab.

Importing it checks that the packages it stands on are there, mends their known faults and nothing else: the registries load the parts
when a config first names them.
"""
from .utils.dependency import check_openmmlab
from .version import __version__

check_openmmlab()

from .utils import compat  # noqa: E402  needs what the check is about

compat.apply()

__all__ = ['__version__']
