"""Epoch-based training that goes on in the middle of an epoch."""
from typing import Any

from mmengine.runner import EpochBasedTrainLoop
from torch import nn

from mmface.registry import LOOPS
from mmface.runtime.data_position import DataPosition
from mmface.runtime.loops.validation import validate_if_due


@LOOPS.register_module()
class FaceEpochTrainLoop(EpochBasedTrainLoop):
    """:class:`mmengine.runner.EpochBasedTrainLoop`, except that a run resumed from any checkpoint sees exactly the samples it has not seen.

    A checkpoint written in the middle of an epoch (``CheckpointHook(by_epoch=False)``) goes on with the next batch of that epoch; one
    written before a validation makes up for the validation first. Arguments are the parent's.

    Raises:
        ValueError: where the data do not fill a batch.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if len(self.dataloader) == 0:
            raise ValueError(f'{len(self.dataloader.dataset)} images do not fill a batch of {self.dataloader.batch_sampler.batch_size}: '
                             'lower train_dataloader.batch_size')

    def run(self) -> nn.Module:
        """Trains to the last epoch and returns the model."""
        self.position = DataPosition(self.runner, self.dataloader)
        if self._iter > 0:
            self.position.restore()
        self.runner.call_hook('before_train')
        if self._iter > 0 and self.position.samples == 0:
            validate_if_due(self, self._epoch, self._max_epochs)
        while self._epoch < self._max_epochs and not self.stop_training:
            self.run_epoch()
            validate_if_due(self, self._epoch, self._max_epochs)
        self.position.close()
        self.runner.call_hook('after_train')
        return self.runner.model

    def run_epoch(self) -> None:
        """What is left of the current epoch."""
        self.runner.call_hook('before_train_epoch')
        self.runner.model.train()
        for idx, data_batch in self.position.batches():
            self.run_iter(idx, data_batch)
        self.position.rewind()
        self.runner.call_hook('after_train_epoch')
        self._epoch += 1

    def run_iter(self, idx: int, data_batch: Any) -> None:
        """One batch; the position moves first because checkpoints are written inside."""
        self.position.advance()
        super().run_iter(idx, data_batch)
