"""Notices that a training has come to nothing, and how long its steps take."""
import math
import time
from typing import Any

from mmengine.hooks import Hook
from mmengine.runner import Runner

from mmface.registry import HOOKS


class DivergedError(ArithmeticError):
    """The loss is not a finite number any more.

    Attributes:
        iteration: counted from 1.
    """

    def __init__(self, iteration: int) -> None:
        super().__init__(f'the loss is not finite after {iteration} iterations')
        self.iteration = iteration


@HOOKS.register_module()
class TrainingWatchHook(Hook):
    """Ends a training whose loss is not finite, and counts the seconds of a step, loading included.

    Attributes:
        seconds, steps: of this process; a resumed training begins anew.

    Raises:
        DivergedError: at the first step whose loss is not finite.
    """
    priority = 'LOWEST'

    def before_train(self, runner: Runner) -> None:
        self.seconds, self.steps, self._last = 0., 0, time.perf_counter()

    def before_train_epoch(self, runner: Runner) -> None:
        self._last = time.perf_counter()

    def after_train_iter(self, runner: Runner, batch_idx: int, data_batch: Any = None, outputs: dict | None = None) -> None:
        if outputs is not None and not math.isfinite(float(outputs['loss'].detach())):
            raise DivergedError(runner.iter + 1)
        now = time.perf_counter()
        self.seconds, self.steps, self._last = self.seconds + now - self._last, self.steps + 1, now
