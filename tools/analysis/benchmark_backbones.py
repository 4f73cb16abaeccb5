#!/usr/bin/env python
"""What each backbone with its neck costs: parameters, multiply-adds and images a second on the CPU, as one table.

    python tools/analysis/benchmark_backbones.py --out work_dirs/backbones        the table of docs/backbones.md, about five minutes
    python tools/analysis/benchmark_backbones.py --only IResNet-50 --rounds 9     one of them, longer

Each figure is the median over rounds; within a round all networks and all ways of running them take turns. "last" is
``data_preprocessor=dict(channels_last=True)``, "bf16" is that and ``optim_wrapper=dict(type='FaceAmpOptimWrapper')``, or ``--amp``.
bfloat16 pays where the processor has instructions for it (avx512_bf16, amx_bf16); elsewhere it is emulated, which takes longer: the last
line says which it is. A training step is forward, backward and SGD, without a head. Multiply-adds are those of convolutions, matrix
products and attention for one image; many papers call them FLOPs, some count them twice.
"""
import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from mmface.models import EdgeFace, FaceNeck, GDCNeck, InceptionResNet, IResNet, MobileFaceNet, PoolNeck, SevenLayerNet, ViTNeck
from mmface.registry import MODELS

#: Channels last, bfloat16.
WAYS = {'fp32': (False, False), 'last': (True, False), 'bf16': (True, True)}


def iresnet(depth: int, **switches) -> tuple:
    backbone = IResNet(depth, **switches)
    return backbone, FaceNeck(backbone.out_channels), 112


def edgeface(arch: str, ratio: float | None = None) -> tuple:
    backbone = EdgeFace(arch, ratio)
    return backbone, PoolNeck(backbone.out_channels, bias=True, norm=False, rank_ratio=ratio), 112


def vit(size: int, depth: int) -> tuple:
    """InsightFace's."""
    arch = dict(embed_dims=size, num_layers=depth, num_heads=8, feedforward_channels=4 * size)
    return MODELS.build(dict(type='mmpretrain.VisionTransformer', arch=arch, img_size=112, patch_size=9, patch_cfg=dict(padding=0),
                             with_cls_token=False, out_type='featmap', qkv_bias=False, norm_cfg=dict(type='LN', eps=1e-5),
                             layer_cfgs=dict(act_cfg=dict(type='ReLU6')))), ViTNeck(size, 12), 112


#: Name to what builds backbone, neck and the side of an image.
NETWORKS: dict[str, Callable[[], tuple]] = {
    'SevenLayerNet': lambda: (SevenLayerNet(), nn.Identity(), 112),
    'MobileFaceNet': lambda: (MobileFaceNet(), GDCNeck(), 112),
    'MobileFaceNet, InsightFace': lambda: (MobileFaceNet(width=2, inner_width=1), GDCNeck(out_channels=512), 112),
    'MobileFaceNet large, InsightFace': lambda: (MobileFaceNet(width=4, inner_width=1, units=(9, 12, 4), stem_units=2),
                                                 GDCNeck(out_channels=512), 112),
    'EdgeFace-XXS': lambda: edgeface('xxsmall'),
    'EdgeFace-XS(0.6)': lambda: edgeface('xsmall', .6),
    'EdgeFace-S(0.5)': lambda: edgeface('small', .5),
    'EdgeFace-Base': lambda: edgeface('base'),
    'IResNet-18': lambda: iresnet(18),
    'IResNet-34': lambda: iresnet(34),
    'IResNet-50': lambda: iresnet(50),
    'IResNet-50, SE': lambda: iresnet(50, se=True),
    'IResNet-100': lambda: iresnet(100),
    'IResNet-200': lambda: iresnet(200),
    'InceptionResNet, 144 x 144': lambda: (InceptionResNet(), PoolNeck(1792), 144),
    'mmpretrain.ResNet-50, 144 x 144': lambda: (MODELS.build(dict(type='mmpretrain.ResNet', depth=50)), PoolNeck(2048), 144),
    'mmpretrain.ConvNeXt-T': lambda: (MODELS.build(dict(type='mmpretrain.ConvNeXt', arch='tiny')), PoolNeck(768), 112),
    'ViT-T, InsightFace': lambda: vit(256, 12),
    'ViT-S, InsightFace': lambda: vit(512, 12),
}


class Contender:
    """A network and images for it.

    Args:
        side: of an image.
        batch_size: images of an embedding pass.
        train_batch_size: images of a training step.
    """

    def __init__(self, backbone: nn.Module, neck: nn.Module, side: int, batch_size: int, train_batch_size: int) -> None:
        self.backbone, self.neck = backbone, neck
        self.network = nn.ModuleList([backbone, neck])
        self.parameters = sum(p.numel() for p in self.network.parameters())
        self.optimizer = torch.optim.SGD(self.network.parameters(), lr=1e-6, momentum=0.)
        self.images = torch.randn(batch_size, 3, side, side)
        self.train_batch_size = train_batch_size
        self.network.eval()
        # The fused attention of the CPU is not among the operations that are counted; its products are.
        with FlopCounterMode(display=False) as counter, torch.no_grad(), sdpa_kernel(SDPBackend.MATH):
            self.embed(self.images[:1])
        self.multiply_adds = counter.get_total_flops() // 2

    def embed(self, images: Tensor) -> Tensor:
        return self.neck(self.backbone(images)[-1])

    def embedding_rate(self, last: bool, bf16: bool) -> float:
        """Images a second of an embedding pass."""
        self.network.eval()
        images = laid_out(self.images, last)
        start = time.perf_counter()
        with torch.inference_mode(), torch.autocast('cpu', torch.bfloat16, enabled=bf16):
            self.embed(images)
        return len(images) / (time.perf_counter() - start)

    def training_rate(self, last: bool, bf16: bool) -> float:
        """Images a second of a training step."""
        self.network.train()
        images = laid_out(self.images[:self.train_batch_size], last)
        start = time.perf_counter()
        with torch.autocast('cpu', torch.bfloat16, enabled=bf16):
            loss = self.embed(images).float().square().mean()
        loss.backward()
        self.optimizer.step()
        self.optimizer.zero_grad()
        return len(images) / (time.perf_counter() - start)


def laid_out(images: Tensor, last: bool) -> Tensor:
    return images.contiguous(memory_format=torch.channels_last) if last else images


def measure(contenders: dict[str, Contender], rounds: int) -> dict[str, dict]:
    """Medians over the rounds, the first of which warms up and is not counted."""
    kinds = {f'{kind} {way}': (kind, flags) for kind in ('embedding', 'training') for way, flags in WAYS.items()}
    rates: dict[str, dict[str, list[float]]] = {name: {kind: [] for kind in kinds} for name in contenders}
    for at in range(rounds + 1):
        print(f'round {at} of {rounds}', file=sys.stderr)
        for name, contender in contenders.items():
            for label, (kind, flags) in kinds.items():
                rates[name][label].append(getattr(contender, f'{kind}_rate')(*flags))
    return {name: dict(parameters=contender.parameters, multiply_adds=contender.multiply_adds,
                       **{label: statistics.median(seen[1:]) for label, seen in rates[name].items()})
            for name, contender in contenders.items()}


def table(results: dict[str, dict]) -> str:
    """Markdown."""
    lines = ['| | parameters, M | multiply-adds, M | embedding: fp32 | last | bf16 | training: fp32 | last | bf16 | bf16 to fp32 |',
             '|---|' + '---:|' * 9]
    for name, row in results.items():
        rates = ' | '.join(f'{row[f"{kind} {way}"]:.1f}' for kind in ('embedding', 'training') for way in WAYS)
        gain = row['training bf16'] / row['training fp32']
        lines.append(f'| {name} | {row["parameters"] / 1e6:.2f} | {row["multiply_adds"] / 1e6:,.0f} | {rates} | {gain:.2f} |')
    return '\n'.join(lines)


def parse_args(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                                     epilog='Exit codes: 0 measured; 2 bad usage.')
    parser.add_argument('--only', nargs='+', choices=NETWORKS, metavar='NAME', help='some of: ' + '; '.join(NETWORKS))
    parser.add_argument('--batch-size', type=int, default=4, help='images of an embedding pass (default: %(default)s)')
    parser.add_argument('--train-batch-size', type=int, default=2, help='images of a training step, two or more (default: %(default)s)')
    parser.add_argument('--rounds', type=int, default=3, help='that are counted; one more warms up (default: %(default)s)')
    parser.add_argument('--threads', type=int, help="of PyTorch (default: PyTorch's)")
    parser.add_argument('--out', type=Path, metavar='DIR', help='writes table.md and results.json there')
    args = parser.parse_args(argv)
    if not 2 <= args.train_batch_size <= args.batch_size or args.rounds < 1:
        parser.error('--train-batch-size must be from 2 to --batch-size, and --rounds at least 1')
    return args


def main(argv: list[str] | None = None) -> int:
    args = parse_args(argv)
    if args.threads:
        torch.set_num_threads(args.threads)
    torch.manual_seed(0)
    contenders = {name: Contender(*NETWORKS[name](), args.batch_size, args.train_batch_size) for name in args.only or NETWORKS}
    results = measure(contenders, args.rounds)
    machine = f'{torch.get_num_threads()} threads, {torch.backends.cpu.get_cpu_capability()}; ' + (
        'bfloat16 in hardware' if torch.cpu._is_avx512_bf16_supported() else 'bfloat16 emulated')
    text = f'{table(results)}\n\n{machine}'
    print(text)
    if args.out:
        args.out.mkdir(parents=True, exist_ok=True)
        (args.out / 'table.md').write_text(text + '\n')
        (args.out / 'results.json').write_text(json.dumps(dict(machine=machine, results=results), indent=1))
    return 0


if __name__ == '__main__':
    sys.exit(main())
