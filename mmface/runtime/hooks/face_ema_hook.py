"""A moving average of the network, without the prototypes."""
import copy
from typing import Any

from mmengine.hooks import EMAHook
from mmengine.model import is_model_wrapper
from mmengine.registry import MODELS
from mmengine.runner import Runner
from torch import nn

from mmface.models.heads.face_cls_head import FaceClsHead
from mmface.registry import HOOKS


@HOOKS.register_module()
class FaceEMAHook(EMAHook):
    """:class:`mmengine.hooks.EMAHook` of all but the prototypes, whole or sharded; the log says that they are left out.

    A validation and an exported network see none of them, and of millions the average would take as much memory again. A checkpoint has
    the averaged network beside the prototypes as they are. Arguments are the parent's.
    """

    def before_run(self, runner: Runner) -> None:
        model = runner.model.module if is_model_wrapper(runner.model) else runner.model
        self.src_model, self.left_out = without_prototypes(model)
        self.ema_model = MODELS.build(self.ema_cfg, default_args=dict(model=self.src_model))
        if self.left_out:
            runner.logger.info(f'the moving average leaves out {", ".join(self.left_out)}')

    def after_load_checkpoint(self, runner: Runner, checkpoint: dict) -> None:
        state, average = checkpoint['state_dict'], checkpoint.get('ema_state_dict', {})
        own = {name: state.pop(name) for name in self.left_out if name in state}
        if runner._resume:  # where EMAHook has averaged them, the prototypes as they were are these
            own |= {name: average.pop(f'module.{name}') for name in self.left_out if f'module.{name}' in average}
        super().after_load_checkpoint(runner, checkpoint)
        state.update(own)


def without_prototypes(model: nn.Module) -> tuple[nn.Module, list[str]]:
    """``model`` itself, parameters and buffers shared, but for the prototypes and what else is sharded; and the names of these."""
    head: Any = getattr(model, 'head', None)
    if not isinstance(head, FaceClsHead):
        return model, []
    names = {'weight', 'bias', *head.shard_spec}
    rest: Any = copy.copy(head)
    rest._parameters = {name: None if name in names else value for name, value in head._parameters.items()}
    rest._buffers = {name: None if name in names else value for name, value in head._buffers.items()}
    network: Any = copy.copy(model)
    network._modules = {**model._modules, 'head': rest}
    kept = {name for name, _ in rest.named_parameters()} | {name for name, _ in rest.named_buffers()}
    whole = [name for name, _ in (*head.named_parameters(), *head.named_buffers())]
    return network, [f'head.{name}' for name in whole if name not in kept]
