#!/usr/bin/env python
"""Time and memory of the head, forward and backward, beside the matrix products that no head can do without.

    python tools/analysis/benchmark_head.py --out work_dirs/head                  the tables of docs/engine.md, 20 minutes
    python tools/analysis/benchmark_head.py --setting 10572 128 --rounds 3        one setting, a minute
    python tools/analysis/benchmark_head.py --scaling --out work_dirs/head        time and memory against C and B, a picture, 10 minutes

The floor is the three products Z = W x^T, Z^T W and Z x into memory that exists, and one copy of W. In every round each contestant makes
a step to warm up and then a timed one, beside a floor of its own; ratios, of wall time and of CPU time, are medians over the rounds. Where
other programs run, only the second says something, and only with OMP_WAIT_POLICY=passive. Memory is the peak of what a step allocates
beyond x and W, including what the head keeps from step to step, and that alone ("idle"). mmpretrain's and pytorch-metric-learning's heads
take part where they are installed. Sub-centres are three prototypes for each of a third of the classes: the same products, the same
floor. A second table has the error of rounded products (``compute_dtype``), a third the optimiser's part of a step. Denormal numbers are
flushed, as the training tools do.
"""
import argparse
import json
import os
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

import mmface.models  # noqa: F401  (registers the heads)
from mmface.models import Elementwise, FaceLoss, Target
from mmface.registry import MODELS
from mmface.runtime.optim.drawn_rows import drawn_rows
from mmface.utils.bare_products import bare_products
from mmface.utils.cpu_model import cpu_model
from mmface.utils.peak_allocated import peak_allocated

MIB = 2**20
DIM = 512
CENTERS = 3
STORE, RECOMPUTE = dict(type='FusedEngine', mode='store'), dict(type='FusedEngine', mode='recompute')
SAMPLED = dict(type='SampledEngine', ratio=.1, mode='store')


class OwnLoss(FaceLoss):
    """A statistic that no published loss asks for."""

    def prepare(self, t: Target) -> Elementwise:
        return Elementwise('sum', lambda v: torch.tanh(4 * v) * v)

    def forward(self, t: Target, S: Tensor) -> Tensor:
        return S - t.similarity


LOSSES: dict[str, dict] = {
    'NormFace': dict(type='NormFaceLoss'),
    'CosFace': dict(type='CosFaceLoss'),
    'ArcFace': dict(type='ArcFaceLoss'),
    'AdaFace, no clamp': dict(type='AdaFaceLoss', clip=False),
    'MagFace': dict(type='MagFaceLoss'),
    'GB-CosFace': dict(type='GBCosFaceLoss'),
    'P2SGrad': dict(type='P2SGradLoss'),
    'AdaFace': dict(type='AdaFaceLoss'),
    'UniFace': dict(type='UniFaceLoss'),
    'CurricularFace': dict(type='CurricularFaceLoss'),
    'MV-Softmax': dict(type='MVSoftmaxLoss'),
    'SphereFace2': dict(type='SphereFace2Loss'),
    'SphereFace-R v2': dict(type='SphereFaceRLoss', version='v2', s=60., m=1.4),
    'softmax': dict(type='SoftmaxLoss'),
    'NormFace, learned scale': dict(type='NormFaceLoss', learn_scale=True),
    'AdaCos': dict(type='AdaCosLoss'),
    'own Elementwise': dict(type=OwnLoss),
}


#: One of every kind, where a round of all takes minutes.
FEW = ['ArcFace', 'P2SGrad', 'AdaFace', 'UniFace', 'CurricularFace', 'SphereFace2', 'own Elementwise']
#: Classes and rows, and the losses that take part.
SETTINGS = {(10572, 128): list(LOSSES), (85742, 128): list(LOSSES), (360232, 64): FEW, (45029, 1024): FEW}
SWEEPS = dict(
    C=[(c, 128) for c in (10000, 30000, 90000, 180000, 360000)], B=[(85742, b) for b in (32, 64, 128, 256, 512, 1024)])


class Data(NamedTuple):
    """``weight`` [C, D], embeddings ``x`` [B, D] that want a gradient, and labels ``y``."""
    weight: Tensor
    x: Tensor
    y: Tensor


class Contestant(NamedTuple):
    """A named step: ``forward`` gives the loss; ``release`` gives back what is kept between steps and says how many bytes that was."""
    name: str
    forward: Callable[[], Tensor]
    parameters: list[nn.Parameter]
    release: Callable[[], int] = lambda: 0

    def step(self, x: Tensor) -> None:
        for tensor in (x, *self.parameters):
            tensor.grad = None
        self.forward().backward()


def our_head(name: str, loss: dict, engine: dict, data: Data, centers: int = 1) -> Contestant:
    classes = len(data.weight) // centers
    # One channel: the prototypes that it draws are thrown away.
    config = dict(type='FaceClsHead', num_classes=classes, in_channels=1, num_centers=centers, loss=loss, engine=engine)
    head = MODELS.build(config).to(data.x.device)
    head.in_channels, head.weight = data.x.shape[1], nn.Parameter(data.weight[:classes * centers])
    labels = data.y % classes
    label = ', '.join(str(engine[key]) for key in ('mode', 'compute_dtype') if key in engine) if engine is not SAMPLED else 'sampled 0.1'
    return Contestant(f'{name}, {label}', lambda: head.compute_loss(data.x, labels)['loss'], list(head.parameters()), head.release_buffers)


def linear(data: Data) -> Contestant:
    weight = nn.Parameter(data.weight)
    return Contestant('nn.Linear + cross-entropy', lambda: F.cross_entropy(F.linear(data.x, weight), data.y), [weight])


def mmpretrain(data: Data) -> Contestant:
    from mmpretrain.structures import DataSample
    head = MODELS.build(dict(type='mmpretrain.ArcFaceClsHead', num_classes=len(data.weight), in_channels=1)).to(data.x.device)
    head.norm_product.weight = nn.Parameter(data.weight)
    samples = [DataSample().set_gt_label(int(label)) for label in data.y]
    return Contestant('mmpretrain ArcFaceClsHead', lambda: head.loss((data.x, ), samples)['loss'], list(head.parameters()))


def pytorch_metric_learning(data: Data) -> Contestant:
    from pytorch_metric_learning.losses import ArcFaceLoss
    loss = ArcFaceLoss(len(data.weight), 1).to(data.x.device)
    loss.W = nn.Parameter(data.weight.t().contiguous())
    return Contestant('pytorch-metric-learning ArcFaceLoss', lambda: loss(data.x, data.y), list(loss.parameters()))


def peers(data: Data) -> list[Contestant]:
    return [linear(data), mmpretrain(data), *([pytorch_metric_learning(data)] if find_spec('pytorch_metric_learning') else [])]


def floor(data: Data) -> Callable[[], None]:
    return bare_products(data.weight, data.x.detach())


def seconds(function: Callable[[], None], device: torch.device) -> tuple[float, float]:
    """Wall and CPU time of a call."""
    wait = (lambda: torch.cuda.synchronize(device)) if device.type == 'cuda' else (lambda: None)
    wait()
    wall, cpu = time.perf_counter(), time.process_time()
    function()
    wait()
    return time.perf_counter() - wall, time.process_time() - cpu


def measure(contestants: list[Contestant], data: Data, rounds: int) -> dict[str, dict[str, float]]:
    """For each contestant the median time in ms, ratios to the floor, and peak and idle memory in MiB."""
    device, run_floor = data.x.device, floor(data)
    times: dict[str, list] = {c.name: [] for c in contestants}
    for _ in range(rounds):
        for contestant in contestants:
            contestant.step(data.x)
            own = seconds(lambda c=contestant: c.step(data.x), device)
            data.x.grad = None
            contestant.release()
            for parameter in contestant.parameters:
                parameter.grad = None
            run_floor()
            times[contestant.name].append((own, seconds(run_floor, device)))
    del run_floor
    results = {}
    for contestant in contestants:
        peak, idle = memory(contestant, data)
        samples = times[contestant.name]
        results[contestant.name] = dict(
            ms=1e3 * statistics.median(own[0] for own, _ in samples),
            floor_ms=1e3 * statistics.median(base[0] for _, base in samples),
            ratio=statistics.median(own[0] / base[0] for own, base in samples),
            cpu_ratio=statistics.median(own[1] / base[1] for own, base in samples),
            peak=peak,
            idle=idle)
    return results


def memory(contestant: Contestant, data: Data) -> tuple[float, float]:
    """Peak of a first step, and what is kept after it once gradients are dropped, in MiB."""
    contestant.release()
    if data.x.is_cuda:
        before = torch.cuda.memory_allocated()
        torch.cuda.reset_peak_memory_stats()
        contestant.step(data.x)
        peak = torch.cuda.max_memory_allocated() - before
    else:
        peak = peak_allocated(lambda: contestant.step(data.x))
    for tensor in (data.x, *contestant.parameters):
        tensor.grad = None
    return peak / MIB, contestant.release() / MIB


def make_data(classes: int, batch: int, device: str) -> Data:
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(batch, DIM, generator=generator).to(device).requires_grad_()
    weight = torch.randn(classes, DIM, generator=generator).mul_(.05).to(device)
    return Data(weight, x, torch.randint(classes, (batch, ), generator=generator).to(device))


def everyone(data: Data, losses: list[str]) -> list[Contestant]:
    ours = [our_head(name, LOSSES[name], engine, data) for name in losses for engine in (STORE, RECOMPUTE)]
    arcface = LOSSES['ArcFace']
    ours += [our_head(f'ArcFace, {CENTERS} sub-centres', arcface, engine, data, CENTERS) for engine in (STORE, RECOMPUTE)]
    if data.x.is_cuda:
        ours += [our_head('ArcFace', arcface, dict(engine, compute_dtype='bfloat16'), data) for engine in (STORE, RECOMPUTE)]
    return [*ours, our_head('ArcFace', arcface, SAMPLED, data), *peers(data)]


def precision(data: Data) -> str:
    """How far a step of ArcFace with rounded products is from one without: of loss, dx and dW the norm of the difference, relative."""

    def results(dtype: str | None) -> list[Tensor]:
        contestant = our_head('', LOSSES['ArcFace'], dict(STORE, compute_dtype=dtype), data)
        loss = contestant.forward()
        return [loss.detach(), *torch.autograd.grad(loss, (data.x, contestant.parameters[0]))]

    exact = results(None)
    lines = ['| compute_dtype | loss | dx | dW |', '|---|---|---|---|']
    for dtype in ('bfloat16', 'float16'):
        errors = [float((a - e).norm() / e.norm()) for a, e in zip(results(dtype), exact, strict=True)]
        lines.append(f'| {dtype} | ' + ' | '.join(f'{error:.1e}' for error in errors) + ' |')
    return '\n'.join(lines) + '\n'


def optimisers(data: Data, rounds: int) -> str:
    """The optimiser's part of a step: SGD with momentum and decay over the prototypes, stock, fused, and of a tenth of the rows."""
    rows = torch.arange(0, len(data.weight), 10, device=data.x.device)
    gradient = torch.ones_like(data.weight)
    tenth = gradient[::10].contiguous()
    sparse = torch.sparse_coo_tensor(rows.unsqueeze(0), tenth, gradient.shape, is_coalesced=True, check_invariants=False)
    lines = ['| SGD, momentum 0.9, decay 5e-4 | ms |', '|---|---|']
    for name, fused, grad in (('stock', False, gradient), ('fused', True, gradient), ('fused, drawn rows of 0.1', True, sparse)):
        parameter = nn.Parameter(data.weight.clone())
        parameter.grad = grad
        optimizer = torch.optim.SGD([parameter], lr=.1, momentum=.9, weight_decay=5e-4, fused=fused)

        def step(optimizer: torch.optim.Optimizer = optimizer) -> None:
            with drawn_rows(optimizer):
                optimizer.step()

        step()
        lines.append(f'| {name} | {1e3 * statistics.median(seconds(step, data.x.device)[0] for _ in range(rounds)):.0f} |')
    return '\n'.join(lines) + '\n'


def table(classes: int, batch: int, results: dict[str, dict[str, float]]) -> str:
    base = statistics.median(r['floor_ms'] for r in results.values())
    lines = [f'**C={classes:,}, B={batch:,}, D={DIM}**, floor {base:.0f} ms', '']
    lines += ['| head | ms | x floor | CPU time x floor | peak MiB | idle MiB |', '|---|---|---|---|---|---|']
    lines += [f'| {name} | {r["ms"]:.0f} | {r["ratio"]:.2f} | {r["cpu_ratio"]:.2f} | {r["peak"]:.0f} | {r["idle"]:.0f} |'
              for name, r in results.items()]
    return '\n'.join(lines) + '\n'


def conditions(device: str, rounds: int) -> str:
    if device != 'cpu':
        return f'{torch.cuda.get_device_name(device)}, torch {torch.__version__}, fp32, {rounds} rounds'
    allocator = 'preloaded ' + os.environ['LD_PRELOAD'] if os.environ.get('LD_PRELOAD') else "the C library's"
    tuned = [f'{name}={value}' for name, value in os.environ.items() if name.startswith(('MALLOC_', 'GLIBC_TUNABLES', 'KMP_'))]
    return (f'{cpu_model()}, {torch.get_num_threads()} threads, torch {torch.__version__} ({torch.backends.cpu.get_cpu_capability()}), '
            f'{rounds} rounds, OMP_WAIT_POLICY={os.environ.get("OMP_WAIT_POLICY", "unset")}, allocator {" ".join([allocator, *tuned])}')


def scaling(device: str, rounds: int, path: Path, sweeps: dict[str, list[tuple[int, int]]] = SWEEPS) -> None:
    """Draws time and peak memory against C, the rows being the same, and against B, the classes being the same."""
    from matplotlib.figure import Figure
    figure = Figure(figsize=(11, 7.5), layout='constrained')
    for row, (variable, settings) in zip(figure.subplots(2, 2), sweeps.items(), strict=True):
        series: dict[str, list[tuple[float, float]]] = {}
        for setting in settings:
            data = make_data(*setting, device)
            contestants = [c for c in everyone(data, ['ArcFace']) if 'sub-centres' not in c.name]
            results = measure(contestants, data, rounds)
            for name, r in results.items():
                series.setdefault(name, []).append((r['ms'], r['peak']))
            series.setdefault('floor', []).append((statistics.median(r['floor_ms'] for r in results.values()), float('nan')))
        ticks = [c if variable == 'C' else b for c, b in settings]
        for axis, index, label in zip(row, (0, 1), ('ms a step', 'peak MiB beyond x and W'), strict=True):
            for name, points in series.items():
                axis.loglog(ticks, [p[index] for p in points], 'k--' if name == 'floor' else '.-', label=name)
            fixed = f'B={settings[0][1]:,}' if variable == 'C' else f'C={settings[0][0]:,}'
            axis.set(xlabel=f'{"classes C" if variable == "C" else "rows B"}, at {fixed}', ylabel=label)
            axis.set_xticks(ticks, [f'{t:,}' for t in ticks], minor=False)
            axis.minorticks_off()
            axis.grid(alpha=.3)
    figure.axes[0].legend(fontsize=8)
    figure.suptitle(conditions(device, rounds), fontsize=9)
    figure.savefig(path, dpi=110)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--setting', nargs=2, type=int, action='append', metavar=('C', 'B'), help='classes and rows; may be repeated')
    parser.add_argument('--losses', nargs='+', choices=LOSSES, metavar='LOSS',
                        help=f'of {", ".join(LOSSES)}; by default all, and one of every kind in the two largest settings')
    parser.add_argument('--rounds', type=int, default=5)
    parser.add_argument('--threads', type=int, default=2)
    parser.add_argument('--device', default='cpu')
    parser.add_argument('--scaling', action='store_true', help='draw the picture instead of the tables')
    parser.add_argument('--out', type=Path, help='folder for tables.md and results.json, or scaling.png')
    args = parser.parse_args(arguments)
    torch.set_num_threads(args.threads)
    torch.set_flush_denormal(True)
    if not find_spec('pytorch_metric_learning'):
        print('pytorch-metric-learning is not installed and takes no part', file=sys.stderr)
    if args.out is not None:
        args.out.mkdir(parents=True, exist_ok=True)
    if args.scaling:
        scaling(args.device, args.rounds, (args.out or Path()) / 'scaling.png')
        return 0
    text, collected = [conditions(args.device, args.rounds) + '\n'], {}
    print(text[0])
    for classes, batch in map(tuple, args.setting or SETTINGS):
        data = make_data(classes, batch, args.device)
        losses = args.losses or SETTINGS.get((classes, batch), list(LOSSES))
        results = collected[f'{classes}x{batch}'] = measure(everyone(data, losses), data, args.rounds)
        text += [table(classes, batch, results), precision(data), optimisers(data, args.rounds)]
        print(*text[-3:], sep='\n', flush=True)
    if args.out is not None:
        (args.out / 'tables.md').write_text('\n'.join(text))
        (args.out / 'results.json').write_text(json.dumps(dict(conditions=text[0].strip(), results=collected), indent=1))
    return 0


if __name__ == '__main__':
    sys.exit(main())
