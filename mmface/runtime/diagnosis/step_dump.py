"""A training step on disk, to be taken again."""
from pathlib import Path
from pickle import UnpicklingError
from typing import Any, NamedTuple

import torch
from mmengine.model import BaseModel, is_model_wrapper
from mmengine.runner import Runner
from torch import Tensor, nn

from mmface.runtime.step_seed import seed_step
from mmface.structures import FaceDataSample
from mmface.utils.atomic_file import atomic_file


class NonFiniteError(ArithmeticError):
    """A training stopped because gradients are not finite; says where the step was written."""


def write_step(path: Path, runner: Runner, batch: dict, loss_state: dict[str, Tensor]) -> None:
    """Writes weights, batch and seed of the step that is being taken; ``loss_state`` is the loss's before it. Plain tensors alone."""
    model = runner.model.module if is_model_wrapper(runner.model) else runner.model
    state = model.state_dict() | {f'head.loss_module.{name}': value for name, value in loss_state.items()}
    inputs = batch['inputs']
    with atomic_file(path) as file:
        torch.save(dict(
            state_dict={name: value.cpu() for name, value in state.items()},
            inputs=(inputs if isinstance(inputs, Tensor) else torch.stack(tuple(inputs))).cpu(),
            labels=FaceDataSample.batch(batch['data_samples']).gt_label.cpu(),
            seed=[int(runner.seed), runner.iter, runner.rank]), file)  # yapf: disable


class Replay(NamedTuple):
    """The loss of a step taken again, and what in it is not finite, first things first."""
    loss: float
    wrong: list[str]


def replay_step(model: BaseModel, path: Path) -> Replay:
    """Takes the forward and backward pass of a dumped step again, the same draws included.

    Args:
        model: of the same config, on any device; its weights are replaced.
        path: the dump.

    Raises:
        ValueError: the file is no dump of a step, or of another model.
    """
    try:
        dump = torch.load(path, map_location='cpu', weights_only=True)
        state, inputs, labels, seed = (dump[key] for key in ('state_dict', 'inputs', 'labels', 'seed'))
    except (RuntimeError, KeyError, TypeError, EOFError, UnpicklingError) as error:
        raise ValueError(f'{path}: not a dump of a training step ({error})') from error
    try:
        model.load_state_dict(state)
    except RuntimeError as error:
        raise ValueError(f'{path}: of another model: {error}') from error
    model.train()
    found: list[str] = []

    def see(name: str, output: Any) -> None:
        tensors = output if isinstance(output, tuple | list) else [output]
        if any(isinstance(t, Tensor) and t.is_floating_point() and not t.isfinite().all() for t in tensors):
            found.append(f'forward: the output of {name}')

    for name, module in model.named_modules():
        if name and not list(module.children()):
            module.register_forward_hook(lambda _module, _inputs, output, name=name: see(name, output))
    wrong = [name for name, value in state.items() if value.is_floating_point() and not value.isfinite().all()]
    found += [f'before the step: {name}' for name in wrong]
    seed_step(*seed, device=next(model.parameters()).device)
    losses = model(**model.data_preprocessor(dict(inputs=inputs, data_samples=FaceDataSample(gt_label=labels)), True), mode='loss')
    loss, _ = model.parse_losses(losses)
    if not loss.isfinite():
        found.append('forward: the loss')
    gradients = torch.autograd.grad(loss, list(_learned(model).values()), allow_unused=True)
    for name, gradient in reversed(list(zip(_learned(model), gradients, strict=True))):  # as the backward pass meets them
        if gradient is not None and not (gradient._values() if gradient.is_sparse else gradient).isfinite().all():
            found.append(f'backward: the gradient of {name}')
    return Replay(float(loss), found)


def _learned(model: nn.Module) -> dict[str, Tensor]:
    return {name: p for name, p in model.named_parameters() if p.requires_grad}
