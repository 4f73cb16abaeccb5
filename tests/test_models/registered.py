"""What the package registers, whatever tests have added."""
import inspect

from mmface.models import FaceLoss
from mmface.registry import MODELS

LOSSES = sorted({c.__name__ for c in MODELS.module_dict.values()
                 if inspect.isclass(c) and issubclass(c, FaceLoss) and c.__module__.startswith('mmface.')})  # yapf: disable
