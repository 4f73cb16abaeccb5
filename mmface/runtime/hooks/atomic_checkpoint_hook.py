"""Checkpoints that survive a kill at any moment."""
import os
from collections import deque
from pathlib import Path
from typing import Any

import torch
from mmengine.dist import all_reduce_params, is_main_process
from mmengine.hooks import CheckpointHook, EMAHook
from mmengine.model import is_model_wrapper
from mmengine.runner import BaseLoop, Runner, find_latest_checkpoint
from torch import nn

from mmface.models.heads.class_shard import sharded_tensors
from mmface.registry import HOOKS
from mmface.runtime.atomic_backend import TEMPORARY
from mmface.runtime.shards.shard_store import ShardStore
from mmface.utils.dist import check_model_wrapper

from .face_runtime_info_hook import FaceRuntimeInfoHook


@HOOKS.register_module()
class AtomicCheckpointHook(CheckpointHook):
    """:class:`mmengine.hooks.CheckpointHook` that removes nothing before its successor is safe.

    MMEngine deletes the old checkpoint, writes the new one in place and then rewrites the pointer ``last_checkpoint``: killed in between,
    it leaves nothing to resume from. Here the new one is written beside its name, synced and renamed (:class:`AtomicBackend`), then the
    pointer moves, then old ones are pruned; the best checkpoint likewise. The pointer is relative, so a moved work directory resumes.

    Of a sharded head (:class:`~mmface.models.FaceClsHead`), every rank's prototypes and optimiser state go to a folder ``<name>.shards``
    beside ``<name>.pth``, before it; a run resumes from the two on any number of ranks. The best checkpoint is the network alone.

    Args:
        interval, by_epoch, max_keep_ckpts, save_last, save_best, rule ...: as the parent's. Not ``backend_args``: files are local.

    Raises:
        ValueError: for an ``out_dir`` that is a URL.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, backend_args=dict(backend='mmface.atomic'), **kwargs)
        if '://' in str(self.out_dir):
            raise ValueError(f'AtomicCheckpointHook writes to local directories, got out_dir={self.out_dir!r}; use CheckpointHook')
        self.shards = ShardStore(nn.Module())  # until a run begins

    def before_run(self, runner: Runner) -> None:
        super().before_run(runner)
        check_model_wrapper(type(runner.model).__name__)
        self.shards = ShardStore(runner.model.module if is_model_wrapper(runner.model) else runner.model)
        if self.shards.names and any(type(hook) is EMAHook for hook in runner.hooks):
            raise ValueError("EMAHook would average each rank's prototypes and save no average: use FaceEMAHook, which leaves them out")

    def after_load_checkpoint(self, runner: Runner, checkpoint: dict) -> None:
        if isinstance(runner._train_loop, BaseLoop):  # a test has no use for prototypes
            file = runner._load_from or find_latest_checkpoint(runner.work_dir)
            self.shards.load(checkpoint, file, runner.optim_wrapper if runner._resume else None)

    def before_train(self, runner: Runner) -> None:
        steps = list(runner.message_hub.get_info('keep_ckpt_ids', []))
        super().before_train(runner)  # removes those of them that are out of date
        for step in set(steps).difference(getattr(self, 'keep_ckpt_ids', steps)):
            self._remove(self._path(self.filename_tmpl.format(step)))
        self.shards.prepare(Path(self.out_dir))
        self.last_ckpt = runner.message_hub.get_info('last_ckpt')
        self._set_best({key: path and self._path(Path(path).name) for key, path in self._get_best().items()})  # work_dir may have moved
        self._remove_outdated_best(runner)
        if is_main_process():
            for torn in Path(self.out_dir).glob(f'*.pth{TEMPORARY}'):
                torn.unlink()

    def before_train_iter(self, runner: Runner, batch_idx: int, data_batch: Any = None) -> None:
        self.shards.changed = True

    def before_save_checkpoint(self, runner: Runner, checkpoint: dict) -> None:
        self.shards.complete(checkpoint, runner.optim_wrapper)

    def _save_checkpoint_with_step(self, runner: Runner, step: int, meta: dict) -> None:
        average_over_ranks(runner.model)
        for hook in runner.hooks:
            if isinstance(hook, FaceRuntimeInfoHook):
                hook.flush(runner)  # here, because only rank 0 comes to before_save_checkpoint
        name = self.filename_tmpl.format(step)
        self.last_ckpt = self._path(name)
        runner.message_hub.update_info('last_ckpt', name)
        steps = [s for s in getattr(self, 'keep_ckpt_ids', ()) if s != step] + [step]
        # What is about to be pruned is still in the list, so that a run resumed from this checkpoint prunes it if this one cannot.
        runner.message_hub.update_info('keep_ckpt_ids', steps)
        with self.shards.beside(Path(self.last_ckpt), runner.optim_wrapper if self.save_optimizer else None):
            runner.save_checkpoint(
                self.out_dir,
                name,
                save_optimizer=self.save_optimizer,
                save_param_scheduler=self.save_param_scheduler,
                meta=meta,
                by_epoch=self.by_epoch,
                backend_args=self.backend_args,
                **self.args)
        if is_main_process():
            self.file_backend.put_text(os.path.relpath(self.last_ckpt, runner.work_dir), Path(runner.work_dir) / 'last_checkpoint')
        if self.max_keep_ckpts > 0:
            for old in steps[:-self.max_keep_ckpts]:
                self._remove(self._path(self.filename_tmpl.format(old)))
            self.keep_ckpt_ids = deque(steps[-self.max_keep_ckpts:], self.max_keep_ckpts)
            runner.message_hub.update_info('keep_ckpt_ids', list(self.keep_ckpt_ids))

    def _save_best_checkpoint(self, runner: Runner, metrics: dict) -> None:
        if not self.save_best:
            return
        previous = self._get_best()
        # As with the list of steps: named before the removal, so that a run resumed from the checkpoint saved below removes it if need be.
        runner.message_hub.update_info('outdated_best', [Path(path).name for path in previous.values() if path])
        self._set_best(dict.fromkeys(previous))  # the parent removes the previous best before it writes the new one: let it see none
        super()._save_best_checkpoint(runner, metrics)
        self._set_best({key: path or previous[key] for key, path in self._get_best().items()})
        self._remove_outdated_best(runner)

    def _remove_outdated_best(self, runner: Runner) -> None:
        best = {Path(path).name for path in self._get_best().values() if path}
        for name in set(runner.message_hub.get_info('outdated_best', [])) - best:
            self._remove(self._path(name))

    def _get_best(self) -> dict[str, str | None]:
        """Path of the best checkpoint by metric; the parent keeps a single one apart."""
        if not self.save_best:
            return {}
        return {'': self.best_ckpt_path} if len(self.key_indicators) == 1 else dict(self.best_ckpt_path_dict)

    def _set_best(self, paths: dict[str, str | None]) -> None:
        if '' in paths:
            self.best_ckpt_path = paths['']
        else:
            self.best_ckpt_path_dict = paths

    def _path(self, name: str) -> str:
        return self.file_backend.join_path(self.out_dir, name)

    def _remove(self, path: str) -> None:
        if is_main_process():
            self.shards.remove(Path(path))
            if self.file_backend.isfile(path):
                self.file_backend.remove(path)


def average_over_ranks(model: nn.Module) -> None:
    """Makes the ranks of a distributed run equal in what each holds of its own, in place, so that rank 0's checkpoint stands for all.

    That is the gradients of an unfinished accumulation (between updates; empty otherwise) and floating-point buffers such as the
    statistics of batch normalisation. The run goes on with the averages, as one resumed from the checkpoint does. Row-sparse gradients
    (:class:`~mmface.models.SampledEngine`) are the same on all ranks already. Of sharded tensors each rank saves its own.
    """
    own = {id(tensor) for tensor, _ in sharded_tensors(model).values()}
    grads = [p.grad for p in model.parameters() if p.grad is not None and not p.grad.is_sparse and id(p) not in own]
    with torch.no_grad():
        all_reduce_params([*grads, *(b for b in model.buffers() if b.is_floating_point() and id(b) not in own)], op='mean')
