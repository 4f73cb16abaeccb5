#!/usr/bin/env python
"""What MMEngine's Runner with our data path, hooks and logging costs beside a bare PyTorch loop, and whether it stays so.

    python tools/analysis/benchmark_step.py --out work_dirs/step              both tables of docs/performance.md, some minutes
    python tools/analysis/benchmark_step.py --growth 1000000                  a million iterations in place of fifty thousand

First: a small MobileFaceNet trains with the hooks of configs/_base_/default_runtime.py. After every block of iterations the same data set,
sampler, collate function, model and optimiser go through as many iterations of a plain loop, in the same process; ratios are medians over
the blocks. Writing checkpoints is left out of both.

Second: a model of one layer on images that cost nothing goes through many iterations, so that whatever grows shows: milliseconds an
iteration, and memory, near the beginning and at the end.
"""
import argparse
import json
import resource
import statistics
import sys
import tempfile
import time
from pathlib import Path

import torch
from mmengine.config import Config
from mmengine.hooks import Hook
from mmengine.runner import Runner
from torch import nn
from torch.utils.data import DataLoader, Dataset

import mmface  # noqa: F401  (mends MMEngine)
from mmface.datasets import FaceDataset, FaceSampler, face_collate
from mmface.datasets.face_batch import FaceBatch
from mmface.datasets.formats.recordio.writer import write_training_set
from mmface.datasets.procedural import ProceduralFaces
from mmface.registry import DATASETS, MODELS
from mmface.structures import FaceDataSample

RUNTIME = Path(__file__).resolve().parents[2] / 'configs/_base_/default_runtime.py'
PEOPLE, PICTURES = 64, 8
BLOCK, WINDOW = 100, 20  # of the second part: iterations that are timed together, and such blocks of which the median is taken
MOMENTS = (1_000, 10_000, 100_000, 1_000_000)
PIPELINE = [dict(type='DecodeFace'), dict(type='RandomFlip', prob=.5), dict(type='PackFace')]
OPTIMIZER = dict(lr=.01, momentum=.9, weight_decay=5e-4, fused=True)
MODEL = dict(
    type='FaceRecognizer',
    data_preprocessor=dict(type='FaceDataPreprocessor'),
    backbone=dict(type='MobileFaceNet', width=.5, stem_stride=4, out_channels=256),
    neck=dict(type='GDCNeck', in_channels=256, feat_size=4, out_channels=128),
    head=dict(type='FaceClsHead', num_classes=PEOPLE, in_channels=128, loss=dict(type='ArcFaceLoss', s=20., m=.2)))


class Clock:
    """Wall and CPU time, device included, between two looks."""

    def __init__(self) -> None:
        self.look()

    def look(self) -> tuple[float, float]:
        if torch.cuda.is_available():
            torch.cuda.synchronize()
        now = time.perf_counter(), time.process_time()
        past, self._now = getattr(self, '_now', now), now
        return now[0] - past[0], now[1] - past[1]


class BareLoop(Hook):
    """Between blocks of the runner's iterations, as many of a plain loop."""
    priority = 'LOWEST'

    def __init__(self, loader: DataLoader, model: nn.Module, block: int) -> None:
        self.loader, self.model, self.block = loader, model, block
        self.optimizer = torch.optim.SGD(model.parameters(), **OPTIMIZER)
        self.schedule = torch.optim.lr_scheduler.CosineAnnealingLR(self.optimizer, 10**6)
        self.batches = self._endless()
        self.blocks: list[tuple[tuple[float, float], tuple[float, float]]] = []

    def before_train(self, runner: Runner) -> None:
        self.model.train()
        self.clock = Clock()

    def after_train_iter(self, runner: Runner, batch_idx: int, data_batch: object = None, outputs: object = None) -> None:
        if (runner.iter + 1) % self.block == 0:
            ours = self.clock.look()
            for _ in range(self.block):
                self.step(next(self.batches))
            self.blocks.append((ours, self.clock.look()))

    def step(self, batch: dict) -> None:
        data = self.model.data_preprocessor(batch, True)
        losses = self.model(data['inputs'], data['data_samples'], mode='loss')
        losses['loss'].backward()
        self.optimizer.step()
        self.optimizer.zero_grad()
        self.schedule.step()

    def _endless(self):
        epoch = 0
        while True:
            self.loader.batch_sampler.sampler.set_epoch(epoch)
            yield from self.loader
            epoch += 1


@DATASETS.register_module()
class Blank(Dataset):
    """Images that cost nothing."""

    def __init__(self) -> None:
        self.metainfo = dict(num_classes=2)
        label = torch.zeros(1, dtype=torch.int64)
        self.batch = FaceBatch(torch.zeros(1, 3, 4, 4, dtype=torch.uint8), FaceDataSample(gt_label=label))

    def __len__(self) -> int:
        return 1 << 20

    def __getitems__(self, indices: list) -> FaceBatch:
        return self.batch


@MODELS.register_module()
class OneLayer(nn.Module):
    """The least that can be called a backbone."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(48, 2)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor]:
        return (self.layer(x.flatten(1)), )


class Growth(Hook):
    """Time and memory of every block of iterations."""
    priority = 'LOWEST'

    def __init__(self, block: int) -> None:
        self.block = block
        self.blocks: list[tuple[float, float]] = []

    def before_train(self, runner: Runner) -> None:
        self.clock = Clock()

    def after_train_iter(self, runner: Runner, batch_idx: int, data_batch: object = None, outputs: object = None) -> None:
        if (runner.iter + 1) % self.block == 0:
            self.blocks.append((1e3 * self.clock.look()[1] / self.block, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024))
            self.clock.look()


def config(work_dir: Path, loader: DataLoader | dict, model: dict, iterations: int) -> Config:
    cfg = Config.fromfile(RUNTIME)
    cfg.merge_from_dict(
        dict(
            work_dir=str(work_dir),
            model=model,
            train_dataloader=loader,
            optim_wrapper=dict(type='FaceOptimWrapper', optimizer=dict(type='SGD', **OPTIMIZER)),
            param_scheduler=[dict(type='CosineAnnealingLR', T_max=10**6, by_epoch=False)],
            train_cfg=dict(type='FaceIterTrainLoop', max_iters=iterations, val_interval=10**9),
            default_hooks=dict(checkpoint=dict(interval=10**9, by_epoch=False, save_best=None, save_last=False)),
            log_processor=dict(by_epoch=False),
            log_level='WARNING'))
    return cfg


def overhead(folder: Path, batch: int, iterations: int, block: int) -> dict[str, float]:
    faces = ProceduralFaces()
    write_training_set(folder / 'train.rec', ((faces.jpeg(person, at) for at in range(PICTURES)) for person in range(PEOPLE)))
    loader = dict(
        batch_size=batch,
        num_workers=0,
        drop_last=True,
        sampler=dict(type='InfiniteFaceSampler'),
        collate_fn=dict(type='mmface.face_collate'),
        dataset=dict(type='FaceDataset', path=str(folder / 'train.rec'), pipeline=PIPELINE))
    runner = Runner.from_cfg(config(folder / 'runner', loader, MODEL, iterations))
    dataset = FaceDataset(str(folder / 'train.rec'), pipeline=PIPELINE)
    bare_loader = DataLoader(dataset, batch, sampler=FaceSampler(dataset), collate_fn=face_collate, drop_last=True)
    bare = BareLoop(bare_loader, MODELS.build(MODEL).to(next(runner.model.parameters()).device), block)
    runner.register_hook(bare)
    runner.train()
    blocks = bare.blocks[1:]  # the first warms up
    return dict(
        runner_ms=1e3 * statistics.median(ours[0] for ours, _ in blocks) / block,
        bare_ms=1e3 * statistics.median(plain[0] for _, plain in blocks) / block,
        wall_ratio=statistics.median(ours[0] / plain[0] for ours, plain in blocks),
        cpu_ratio=statistics.median(ours[1] / plain[1] for ours, plain in blocks))


def growth(folder: Path, iterations: int) -> list[dict[str, float]]:
    loader = dict(
        batch_size=1,
        num_workers=0,
        sampler=dict(type='InfiniteFaceSampler'),
        collate_fn=dict(type='mmface.face_collate'),
        dataset=dict(type='Blank'))
    model = dict(
        type='FaceRecognizer',
        data_preprocessor=dict(type='FaceDataPreprocessor', size=(4, 4)),
        backbone=dict(type='OneLayer'),
        neck=None,
        head=dict(type='FaceClsHead', num_classes=2, in_channels=2, loss=dict(type='SoftmaxLoss')))
    runner = Runner.from_cfg(config(folder / 'growth', loader, model, iterations))
    hook = Growth(BLOCK)
    runner.register_hook(hook)
    runner.train()
    last = iterations - BLOCK * WINDOW
    rows = []
    for moment in sorted({moment for moment in MOMENTS if moment < last} | {last}):
        blocks = hook.blocks[moment // BLOCK:moment // BLOCK + WINDOW]
        rows.append(dict(iteration=moment, ms=statistics.median(ms for ms, _ in blocks), memory_mib=blocks[-1][1]))
    return rows


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--batch-size', type=int, default=32)
    parser.add_argument('--iterations', type=int, default=2000, help='of the runner, and as many of the plain loop (default: %(default)s)')
    parser.add_argument('--block', type=int, default=50, help='iterations at a time (default: %(default)s)')
    parser.add_argument('--growth', type=int, default=50_000, help='iterations of the second part; 0 leaves it out (default: %(default)s)')
    parser.add_argument('--threads', type=int, default=2)
    parser.add_argument('--out', type=Path, help='folder for results.json')
    args = parser.parse_args(argv)
    torch.set_num_threads(args.threads)
    torch.set_flush_denormal(True)
    with tempfile.TemporaryDirectory() as folder:
        results = dict(overhead=overhead(Path(folder), args.batch_size, args.iterations, args.block))
        print('| runner, ms | bare loop, ms | ratio of wall time | ratio of CPU time |\n|---|---|---|---|')
        print('| {runner_ms:.2f} | {bare_ms:.2f} | {wall_ratio:.3f} | {cpu_ratio:.3f} |\n'.format(**results['overhead']), flush=True)
        if args.growth:
            results['growth'] = growth(Path(folder), args.growth)
            print('| iteration | CPU ms an iteration | peak memory, MiB |\n|---|---|---|')
            for row in results['growth']:
                print('| {iteration:,} | {ms:.3f} | {memory_mib:.0f} |'.format(**row))
    if args.out is not None:
        args.out.mkdir(parents=True, exist_ok=True)
        (args.out / 'results.json').write_text(json.dumps(results, indent=1))
    return 0


if __name__ == '__main__':
    sys.exit(main())
