"""Randomness that does not depend on where a run began."""
from typing import Any

from mmengine.hooks import Hook
from mmengine.runner import Runner

from mmface.registry import HOOKS

from ..step_seed import seed_step


@HOOKS.register_module()
class StepSeedHook(Hook):
    """Seeds Python's, NumPy's and torch's generators from (seed, iteration, rank) before every training iteration.

    Dropout and whatever else a model draws is then the same in a resumed run as in an uninterrupted one, and differs between ranks. The
    data are seeded apart, for each sample, by the data set. The seed is the runner's, which a resumed run takes from its checkpoint.
    """

    priority = 'VERY_HIGH'

    def before_train(self, runner: Runner) -> None:
        self.device = next(runner.model.parameters()).device

    def before_train_iter(self, runner: Runner, batch_idx: int, data_batch: Any = None) -> None:
        seed_step(runner.seed, runner.iter, runner.rank, self.device)
