"""Which parameters an optimiser gets, with which settings, in how many groups."""
from typing import Any

from mmengine.optim import DefaultOptimWrapperConstructor, OptimWrapper
from torch import Tensor, nn

from mmface.models import FaceLoss
from mmface.registry import OPTIM_WRAPPER_CONSTRUCTORS


@OPTIM_WRAPPER_CONSTRUCTORS.register_module(name=['FaceOptimWrapperConstructor', 'DefaultOptimWrapperConstructor'])
class FaceOptimWrapperConstructor(DefaultOptimWrapperConstructor):
    """MMEngine's, except that what a loss learns gets no weight decay, and that parameters with the same settings share a group.

    The scalars of a loss, a scale or a threshold, have no reason to be small. A ``decay_mult`` of ``paramwise_cfg.custom_keys`` that names
    them gives them decay after all. MMEngine makes a group of every parameter as soon as one is special, and a fused or foreach optimiser
    is then called once for each.

    It has a second name, MMEngine's for the default, and so is the default in scope ``mmface``.
    """
    paramwise_cfg: dict

    def __call__(self, model: nn.Module) -> OptimWrapper:
        if not self.paramwise_cfg and learned_by_losses(model):
            self.paramwise_cfg = dict(custom_keys={})  # nothing in particular, but the parent then looks at parameters one by one
        return super().__call__(model)

    def add_params(self, params: list[dict], module: nn.Module, prefix: str = '', is_dcn_module: float | None = None) -> None:
        """As the parent's, which calls this for the whole model and then for each of its parts."""
        super().add_params(params, module, prefix, is_dcn_module)
        if prefix:
            return
        learned = learned_by_losses(module)
        for group in params:
            if 'decay_mult' not in group and group['params'][0] in learned:
                group['weight_decay'] = 0.
        params[:] = merged(params)


def learned_by_losses(model: nn.Module) -> set[Tensor]:
    """The parameters of all losses in ``model``."""
    return {p for module in model.modules() if isinstance(module, FaceLoss) for p in module.parameters()}


def merged(groups: list[dict]) -> list[dict]:
    """Parameter groups, one for each setting, in the order of their first parameters."""
    by_setting: dict[str, dict[str, Any]] = {}
    for group in groups:
        setting = {key: value for key, value in group.items() if key != 'params'}
        by_setting.setdefault(repr(sorted(setting.items())), dict(setting, params=[]))['params'] += group['params']
    return list(by_setting.values())
