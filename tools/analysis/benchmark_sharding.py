#!/usr/bin/env python
"""Weak scaling of the sharded head: W processes with C classes each against one process with C, at the same global batch.

    OMP_NUM_THREADS=1 python tools/analysis/benchmark_sharding.py --out work_dirs/sharding      the table of docs/sharding.md, 2 minutes

Every process has one thread. Cores of a machine share its memory: beside the step, forward and backward, the three matrix products and one
copy of the prototypes that no head can do without are timed in the same way, in one process and in W at once. What these lose is the
ceiling; the tool says which share of it the head reaches. Rounds are interleaved, and ratios are medians over the rounds.
"""
import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection
from pathlib import Path

import torch
import torch.distributed as dist
from torch import multiprocessing

import mmface.models  # noqa: F401  (registers the heads)
from mmface.registry import MODELS
from mmface.utils.bare_products import bare_products
from mmface.utils.cpu_model import cpu_model

DIM = 512
MS = 1e3


def step(classes: int, ranks: int, batch: int, loss: str, sharded: bool) -> Callable[[], None]:
    """A step of the head on this process's share of the batch; ``classes`` are those of one process."""
    head = MODELS.build(
        dict(type='FaceClsHead', num_classes=classes * ranks, in_channels=DIM, loss=dict(type=loss), sharded=sharded,
             engine=dict(type='FusedEngine', mode='store')))
    generator = torch.Generator().manual_seed(1)
    first, rows = (dist.get_rank(), batch // ranks) if sharded else (0, batch)
    x = torch.randn(batch, DIM, generator=generator)[first * rows:(first + 1) * rows].clone().requires_grad_()
    labels = torch.randint(classes * ranks, (batch, ), generator=generator)[first * rows:(first + 1) * rows]

    def run() -> None:
        for tensor in (x, *head.parameters()):
            tensor.grad = None
        head.compute_loss(x, labels)['loss'].backward()

    return run


def serve(rank: int, ranks: int, args: argparse.Namespace, meeting: str | None, parent: Connection) -> None:
    """A process that does what it is told, a step or the products, and answers with the seconds; waiting costs nothing."""
    torch.set_num_threads(1)
    torch.set_flush_denormal(True)
    if meeting is not None:
        dist.init_process_group('gloo', init_method=f'file://{meeting}', rank=rank, world_size=ranks)
    work = dict(
        step=step(args.classes, ranks, args.batch, args.loss, sharded=meeting is not None),
        products=bare_products(torch.randn(args.classes, DIM), torch.randn(args.batch, DIM)))
    parent.send('ready')
    while (name := parent.recv()) is not None:
        start = time.perf_counter()
        work[name]()
        parent.send(time.perf_counter() - start)
    if meeting is not None:
        dist.destroy_process_group()


def together(processes: Sequence[Connection], work: str) -> float:
    """Has all of them do it at once, twice; the seconds of the slowest in the second turn."""
    for _ in range(2):
        for process in processes:
            process.send(work)
        slowest = max(process.recv() for process in processes)
    return slowest


def measure(args: argparse.Namespace) -> list[dict[str, float]]:
    """Seconds of every round: step and products, in one process and in all at once."""
    context = multiprocessing.get_context('spawn')
    with tempfile.TemporaryDirectory() as folder:
        pipes, children = [], []
        for rank, ranks, meeting in [(0, 1, None), *((rank, args.ranks, f'{folder}/meeting') for rank in range(args.ranks))]:
            ours, theirs = context.Pipe()
            child = context.Process(target=serve, args=(rank, ranks, args, meeting, theirs), daemon=True)
            child.start()
            theirs.close()
            pipes.append(ours)
            children.append(child)
        for pipe in pipes:
            pipe.recv()
        alone, group = pipes[:1], pipes[1:]
        rounds = [
            dict(step=together(alone, 'step'), steps=together(group, 'step'), products=together(alone, 'products'),
                 all_products=together(group, 'products')) for _ in range(args.rounds)
        ]
        for pipe in pipes:
            pipe.send(None)
        for child in children:
            child.join(30)
    return rounds


def summary(rounds: Sequence[dict[str, float]]) -> dict[str, float]:
    """Medians: milliseconds, the efficiencies of step and products, and the share that the first is of the second."""

    def median(of: Callable[[dict[str, float]], float]) -> float:
        return statistics.median(map(of, rounds))

    return dict(
        {f'{name}_ms': MS * median(lambda r, name=name: r[name]) for name in rounds[0]},
        efficiency=median(lambda r: r['step'] / r['steps']), ceiling=median(lambda r: r['products'] / r['all_products']),
        share=median(lambda r: r['step'] / r['steps'] * r['all_products'] / r['products']))


def table(args: argparse.Namespace, found: dict[str, float]) -> str:
    one, many = f'1 process, {args.classes:,} classes', f'{args.ranks} processes, {args.ranks * args.classes:,} classes'
    where = (f'{cpu_model()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} at the end, torch '
             f'{torch.__version__}; B = {args.batch}, D = {DIM}, {args.loss}, one thread a process, {args.rounds} rounds')
    return '\n'.join([
        where, '',
        f'| | {one}, ms | {many}, ms | ratio |', '|---|---:|---:|---:|',
        f'| step of the head | {found["step_ms"]:.0f} | {found["steps_ms"]:.0f} | {found["efficiency"]:.3f} |',
        f'| the bare products | {found["products_ms"]:.0f} | {found["all_products_ms"]:.0f} | {found["ceiling"]:.3f} |', '',
        f'Share of the ceiling: {found["share"]:.1%}'
    ])


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--classes', type=int, default=100_000, help='of one process (100000)')
    parser.add_argument('--batch', type=int, default=128, help='rows of all processes together (128)')
    parser.add_argument('--ranks', type=int, default=2, help='W (2)')
    parser.add_argument('--loss', default='ArcFaceLoss')
    parser.add_argument('--rounds', type=int, default=15)
    parser.add_argument('--out', type=Path, help='folder for sharding.md and sharding.json')
    args = parser.parse_args(argv)
    if args.batch % args.ranks:
        parser.error(f'--batch {args.batch} cannot be divided by {args.ranks} processes')
    rounds = measure(args)
    found = summary(rounds)
    print(table(args, found))
    if args.out is not None:
        args.out.mkdir(parents=True, exist_ok=True)
        (args.out / 'sharding.md').write_text(table(args, found) + '\n')
        (args.out / 'sharding.json').write_text(json.dumps(dict(found, rounds=rounds), indent=1))
    return 0


if __name__ == '__main__':
    sys.exit(main())
