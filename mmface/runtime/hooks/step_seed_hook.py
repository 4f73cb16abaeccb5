"""Randomness that does not depend on where a run began."""
import random
from typing import Any

import numpy as np
import torch
from mmengine.hooks import Hook
from mmengine.runner import Runner

from mmface.registry import HOOKS


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
        words = np.random.SeedSequence((runner.seed, runner.iter, runner.rank)).generate_state(4).tolist()
        random.seed(words[0])
        np.random.seed(words[1])
        seed = (words[2] << 32) + words[3]
        # Not torch.manual_seed: for every kind of device that is not there it notes the stack, which takes longer than a small model.
        torch.default_generator.manual_seed(seed)
        if self.device.type != 'cpu':
            torch.get_device_module(self.device).manual_seed(seed)
