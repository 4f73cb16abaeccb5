"""A training small enough for a test, with everything that a resumed run could get wrong.

Dropout, augmentation, batch-norm and loss statistics, momentum, gradient accumulation, EMA, a schedule, a partial last batch.

``torchrun toy_training.py RUNS`` does several in one group of processes; RUNS is a JSON list of arguments of :func:`main`.
"""
import copy
import itertools
import json
import os
import random
import signal
import sys
from pathlib import Path
from typing import ClassVar

import numpy as np
import torch
from mmengine.config import Config
from mmengine.evaluator import BaseMetric
from mmengine.hooks import Hook
from mmengine.logging import MessageHub
from mmengine.runner import Runner
from torch import nn

import mmface  # noqa: F401
from mmface.datasets.seeding import seed_sample
from mmface.registry import DATASETS, HOOKS, METRICS, MODELS
from mmface.structures import FaceDataSample
from mmface.utils.dist import CPU_MODEL_WRAPPER, init_cpu_group, leave_group

IMAGES, CLASSES, SIZE = 38, 5, 8
NUMBERS = itertools.count()


@DATASETS.register_module()
class ToyFaces(torch.utils.data.Dataset):
    """Noise around one random image a class; the noise comes from all three global generators."""
    metainfo: ClassVar = dict(num_classes=CLASSES, classes={f'person {c}': c for c in range(CLASSES)})

    def __init__(self, images=IMAGES, classes=CLASSES, ignored=()):
        self.images, self.classes, self.ignored = images, classes, ignored
        self.reads = []
        self.faces = torch.randint(0, 200, (classes, 3, SIZE, SIZE), generator=torch.Generator().manual_seed(0))

    def __len__(self):
        return self.images

    def __getitem__(self, index):
        epoch, at = index if isinstance(index, tuple) else (0, index)
        self.reads.append((epoch, at))
        seed_sample(0, epoch, at)
        noise = torch.randint(0, 20, self.faces[0].shape) + int(np.random.randint(20)) + random.randrange(15)
        label = -1 if at in self.ignored else at % self.classes
        image = (self.faces[at % self.classes] + noise).to(torch.uint8)
        return dict(inputs=image, data_samples=FaceDataSample(gt_label=torch.tensor([label]), sample_idx=torch.tensor([at])))


@MODELS.register_module()
class ToyBackbone(nn.Module):

    def __init__(self, channels=4, batch_norm=True):
        super().__init__()
        self.layers = nn.Sequential(nn.Conv2d(3, channels, 3, 2), nn.BatchNorm2d(channels) if batch_norm else nn.Identity(), nn.PReLU())

    def forward(self, x):
        return (self.layers(x), )


@MODELS.register_module()
class ToyNeck(nn.Module):

    def __init__(self, channels=4, dim=6, dropout=.3):
        super().__init__()
        self.layers = nn.Sequential(nn.Dropout(dropout), nn.Flatten(), nn.Linear(channels * 9, dim))

    def forward(self, x):
        return self.layers(x)


@METRICS.register_module()
class ToyMetric(BaseMetric):
    """A number that depends on the weights."""

    def process(self, data_batch, data_samples):
        self.results += [sample['embedding'].norm().item() for sample in data_samples]

    def compute_metrics(self, results):
        age = round(MessageHub.get_current_instance().get_info('iter', 0), -1)  # grows from one validation to the next
        return {'toy/accuracy': float(np.mean(results)), 'toy/loss': -float(np.mean(results)), 'toy/age': age}


@HOOKS.register_module()
class Recorder(Hook):
    """Writes the loss of every iteration and the result of every validation, to the last bit, to ``work_dir/record``."""
    priority = 'LOW'  # before checkpoints are written, and processes killed

    def _write(self, runner, *values):
        if runner.rank == 0:
            with open(Path(runner.work_dir) / 'record', 'a') as file:
                print(*values, file=file)

    def after_train_iter(self, runner, batch_idx, data_batch=None, outputs=None):
        lr = runner.optim_wrapper.param_groups[0]['lr']
        logged = [runner.message_hub.get_scalar(f'train/{key}').current() for key in outputs]
        self._write(runner, 'train', runner.iter + 1, *(float(value).hex() for value in [*logged, lr]))

    def after_val_epoch(self, runner, metrics=None):
        self._write(runner, 'val', runner.iter, metrics['toy/accuracy'].hex())


def toy_config(work_dir, **changes):
    """The toy's config; ``changes`` are merged into it, with dots in the keys for nested ones."""
    loader = dict(
        batch_size=4,
        num_workers=0,
        dataset=dict(type='ToyFaces'),
        sampler=dict(type='FaceSampler'),
        collate_fn=dict(type='mmface.face_collate'))
    config = Config(
        dict(
            default_scope='mmface',
            work_dir=str(work_dir),
            experiment_name=f'toy{next(NUMBERS)}',  # MMEngine shares loggers and message hubs by name and second
            model=dict(
                type='FaceRecognizer',
                data_preprocessor=dict(type='FaceDataPreprocessor', size=(SIZE, SIZE)),
                backbone=dict(type='ToyBackbone'),
                neck=dict(type='ToyNeck'),
                head=dict(type='FaceClsHead', num_classes=CLASSES, in_channels=6, loss=dict(type='AdaFaceLoss', s=16., momentum=.2))),
            train_dataloader=loader,
            train_cfg=dict(type='FaceEpochTrainLoop', max_epochs=3),
            optim_wrapper=dict(
                type='FaceOptimWrapper',
                accumulative_counts=3,
                optimizer=dict(type='SGD', lr=.1, momentum=.9, weight_decay=1e-3, fused=True),
                clip_grad=dict(max_norm=5.)),
            param_scheduler=[
                dict(type='LinearLR', start_factor=.1, begin=0, end=5, by_epoch=False),
                dict(type='PolyLR', power=2, begin=1, end=3, by_epoch=True, convert_to_iter_based=True)
            ],
            val_dataloader=dict(loader, dataset=dict(type='ToyFaces', images=6), sampler=dict(type='DefaultSampler', shuffle=False)),
            val_cfg=dict(),
            val_evaluator=dict(type='ToyMetric'),
            default_hooks=dict(
                runtime_info=dict(type='FaceRuntimeInfoHook', interval=1),  # for Recorder
                logger=dict(type='LoggerHook', interval=5),
                checkpoint=dict(type='AtomicCheckpointHook', interval=1),
                safe_checkpoint=dict(type='SafeCheckpointHook'),
                step_seed=dict(type='StepSeedHook'),
                resume_schedule=dict(type='ResumeScheduleHook'),
                strict_load=dict(type='StrictLoadHook')),
            custom_hooks=[dict(type='EMAHook', momentum=.1), dict(type='Recorder')],
            randomness=dict(seed=7),
            log_level='WARNING'))
    config.merge_from_dict(copy.deepcopy(changes))
    return config


def iteration_based(**changes):
    """Changes that make the toy iteration-based."""
    return {
        'train_cfg': dict(type='FaceIterTrainLoop', max_iters=24, val_interval=8, _delete_=True),
        'train_dataloader.sampler.type': 'InfiniteFaceSampler',
        'default_hooks.checkpoint.by_epoch': False,
        'param_scheduler': [dict(type='PolyLR', power=2, begin=0, end=24, by_epoch=False)],
        **changes
    }


def train(work_dir, **changes):
    runner = Runner.from_cfg(toy_config(work_dir, **changes))
    runner.train()
    return runner


def record(work_dir):
    """The lines that :class:`Recorder` wrote, as {(what, iteration): values}; a line written again replaces the first."""
    lines = [line.split() for line in (Path(work_dir) / 'record').read_text().splitlines()]
    return {(what, int(iteration)): tuple(values) for what, iteration, *values in lines}


def log_of(work_dir):
    """The text log of the run in ``work_dir``; of the last, where there were several."""
    return max(Path(work_dir).glob('*/*.log')).read_text()


def kill_at(moment):
    """Sends this process SIGKILL at the ``n``-th of a kind of moments, ``[kind, n]``; the kinds are those of a checkpoint's life."""
    kind, left = moment
    names = dict(written='replace', renamed='replace', pointed='replace', pruning='remove', pruned='remove')
    original = getattr(os, names[kind])

    def patched(source, *args, **kwargs):
        nonlocal left
        target = str(args[0] if args else source)
        mine = target.endswith('last_checkpoint') == (kind == 'pointed')
        left -= mine
        if mine and left == 0 and kind in ('written', 'pruning'):
            os.kill(os.getpid(), signal.SIGKILL)
        original(source, *args, **kwargs)
        if mine and left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    setattr(os, names[kind], patched)


def main(work_dir, changes, kill=None):
    """Trains in ``work_dir``, on gloo under torchrun, killed at the moment ``kill``."""
    if kill:
        kill_at(kill)
    if 'RANK' in os.environ:
        changes = dict(changes, launcher='pytorch', model_wrapper_cfg=CPU_MODEL_WRAPPER)
    runner = train(work_dir, **changes)
    if 'RANK' in os.environ:
        torch.save(dict(state=runner.model.module.state_dict()), Path(work_dir) / f'rank{runner.rank}.pth')


if __name__ == '__main__':
    init_cpu_group('pytorch')
    for run in json.loads(sys.argv[1]):
        main(**run)
    leave_group()
