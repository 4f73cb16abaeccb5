"""Resuming with another schedule."""
from typing import Any

from mmengine.hooks import Hook
from mmengine.optim import _ParamScheduler
from mmengine.runner import Runner

from mmface.registry import HOOKS

_PROGRESS = {'last_step', '_global_step', '_last_value', 'verbose'}


@HOOKS.register_module()
class ResumeScheduleHook(Hook):
    """Lets the schedule of the config take force when a run is resumed, where it differs from the checkpoint's.

    MMEngine restores the old schedule whole, its end included: resumed for more epochs, training goes on at the last learning rate, often
    zero. Here the config's schedulers are played from the beginning to where the checkpoint stands, so the learning rate is from then on
    what it would have been had the run begun with them; one line in the log says so. An unchanged schedule is restored as it was.

    Schedulers that follow a metric (``ReduceOnPlateauLR``) cannot be played again: with one among them the checkpoint's stay.
    """

    def after_load_checkpoint(self, runner: Runner, checkpoint: dict) -> None:
        schedulers, saved = runner.param_schedulers, checkpoint.get('param_schedulers')
        if not runner._resume or not isinstance(schedulers, list) or not isinstance(saved, list):
            return
        changes = differences(schedulers, saved)
        if not changes or any(getattr(scheduler, 'need_val_args', False) for scheduler in schedulers):
            return
        epoch, iteration = checkpoint['meta']['epoch'], checkpoint['meta']['iter']
        replay(schedulers, epoch, iteration, len(runner.train_dataloader))
        checkpoint['param_schedulers'] = [scheduler.state_dict() for scheduler in schedulers]
        names = {scheduler.param_name for scheduler in schedulers}
        stored = checkpoint.get('optimizer', {})
        groups = [*stored.get('param_groups', []), *filter(None, [stored.get('base_param_settings')])]
        for old, new in zip(groups, runner.optim_wrapper.param_groups):  # noqa: B905  a checkpoint may come without optimizer
            old.update({key: new[key] for name in names for key in (name, f'initial_{name}') if key in new})
        runner.logger.warning(f'the schedule of the config takes force from epoch {epoch}, iteration {iteration}, in place of the '
                              f'checkpoint\'s ({"; ".join(changes)}): {runner.optim_wrapper.get_lr()}')


def differences(schedulers: list[_ParamScheduler], saved: list[dict[str, Any]]) -> list[str]:
    """How freshly built schedulers differ from saved states, progress aside; empty where they do not."""
    if len(schedulers) != len(saved):
        return [f'{len(saved)} schedulers -> {len(schedulers)}']
    changes: list[str] = []
    for scheduler, old in zip(schedulers, saved, strict=True):
        new = scheduler.state_dict()
        keys = sorted((new.keys() | old.keys()) - _PROGRESS)
        name = type(scheduler).__name__
        changes += [f'{name} {key}: {old.get(key)} -> {new.get(key)}' for key in keys if new.get(key) != old.get(key)]
    return changes


def replay(schedulers: list[_ParamScheduler], epochs: int, iterations: int, epoch_length: int) -> None:
    """Steps freshly built schedulers as ``iterations`` iterations with ``epochs`` epoch ends do, in the order of training."""
    stepped = 0
    for iteration in range(1, iterations + 1):
        _step(schedulers, by_epoch=False)
        if stepped < epochs and iteration == (stepped + 1) * epoch_length:
            _step(schedulers, by_epoch=True)
            stepped += 1
    for _ in range(stepped, epochs):
        _step(schedulers, by_epoch=True)


def _step(schedulers: list[_ParamScheduler], by_epoch: bool) -> None:
    for scheduler in schedulers:
        if scheduler.by_epoch is by_epoch:
            scheduler.step()
