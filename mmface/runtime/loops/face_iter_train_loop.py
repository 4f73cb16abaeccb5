"""Iteration-based training that goes on after any iteration without reading what it has seen."""
from collections.abc import Sequence

from mmengine.runner import BaseLoop, IterBasedTrainLoop, Runner
from mmengine.runner.utils import calc_dynamic_intervals
from torch import nn
from torch.utils.data import DataLoader

from mmface.registry import LOOPS
from mmface.runtime.data_position import DataPosition
from mmface.runtime.loops.validation import validate_if_due


@LOOPS.register_module()
class FaceIterTrainLoop(IterBasedTrainLoop):
    """:class:`mmengine.runner.IterBasedTrainLoop`, except that a resumed run skips what it has seen instead of decoding it again.

    Args:
        runner: the runner.
        dataloader: its sampler must be endless (``InfiniteFaceSampler``).
        max_iters: the number of iterations.
        val_begin, val_interval, dynamic_intervals: when to validate, in iterations, as the parent's.
    """

    def __init__(self,
                 runner: Runner,
                 dataloader: DataLoader | dict,
                 max_iters: int,
                 val_begin: int = 1,
                 val_interval: int = 1000,
                 dynamic_intervals: Sequence[tuple[int, int]] | None = None) -> None:
        BaseLoop.__init__(self, runner, dataloader)  # the parent's would start reading before the position is known
        self._max_iters = int(max_iters)
        self._max_epochs = 1
        self._epoch = 0
        self._iter = 0
        self.val_begin = val_begin
        self.val_interval = val_interval
        self.stop_training = False
        self.dynamic_milestones, self.dynamic_intervals = calc_dynamic_intervals(val_interval, dynamic_intervals)
        runner.visualizer.dataset_meta = getattr(self.dataloader.dataset, 'metainfo', None)

    def run(self) -> nn.Module:
        """Trains to the last iteration and returns the model.

        Raises:
            ValueError: where the sampler ends before ``max_iters``.
        """
        self.position = DataPosition(self.runner, self.dataloader)
        if self._iter > 0:
            self.position.restore()
        self.runner.call_hook('before_train')
        self.runner.call_hook('before_train_epoch')
        if self._iter > 0:
            validate_if_due(self, self._iter, self._max_iters)
        batches = self.position.batches()
        while self._iter < self._max_iters and not self.stop_training:
            self.runner.model.train()
            _, data_batch = next(batches, (None, None))
            if data_batch is None:
                raise ValueError(f'{type(self.position.sampler).__name__} ended at iteration {self._iter} of {self._max_iters}: '
                                 "iteration-based training needs an endless sampler, sampler=dict(type='InfiniteFaceSampler')")
            self.position.advance()
            self.run_iter(data_batch)
            validate_if_due(self, self._iter, self._max_iters)
        self.runner.call_hook('after_train_epoch')
        self.position.close()
        self.runner.call_hook('after_train')
        return self.runner.model
