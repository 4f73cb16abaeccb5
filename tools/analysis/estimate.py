#!/usr/bin/env python
"""Memory of a rank, communication of a step, and whether to train the head whole, sharded or sampled; see docs/sharding.md.

    python tools/analysis/estimate.py CONFIG --gpus 8 --gpu-memory 80           the classes of the config
    python tools/analysis/estimate.py CONFIG --gpus 8 --gpu-memory 80 --table   the sizes of known training sets: the table of the page

Backbone, neck, head and optimiser of the config are built here, the head with a few thousand classes, and measured on the CPU.
"""
import argparse
import json
import sys
from collections.abc import Sequence

from mmface.apis.estimate import Estimate, estimate
from mmface.utils.command import run_command
from mmface.utils.dict_action import DictAction
from mmface.zoo.training_sets import CLASSES

GIB, MIB = 2**30, 2**20
TRAINING_SETS = {name: CLASSES[name][0] for name in ('CASIA-WebFace', 'MS1MV2', 'Glint360K', 'WebFace42M')}
TRAINING_SETS['virtual identities'] = 100_000_000


def parse_args(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                                     epilog='Exit codes: 0 estimated; 1 nothing fits; 2 bad usage or input.')
    parser.add_argument('config', help='config file')
    parser.add_argument('--gpus', type=int, default=1, metavar='N', help='processes, one a GPU (1)')
    parser.add_argument('--gpu-memory', type=float, default=80., metavar='G', help='of one GPU, in GiB (80)')
    parser.add_argument('--device', choices=['cuda', 'cpu'], default='cuda', help='where the training is to run (cuda)')
    parser.add_argument('--amp', action='store_true', help='automatic mixed precision, as of tools/train.py')
    parser.add_argument('--table', action='store_true', help='a table over the sizes of known training sets')
    parser.add_argument('--json', action='store_true', help='print JSON, sizes in bytes')
    parser.add_argument('--cfg-options', nargs='+', action=DictAction, metavar='KEY=VALUE', help='change the config, as in a.b=1 c="[1,2]"')
    return parser.parse_args(argv)


def text(result: Estimate) -> str:
    """Of one number of classes, in MiB."""
    names = [cost.layout.name for cost in result.costs]
    lines = [f'{result.classes:,} classes, {result.gpus} x {result.gpu_memory:g} GiB; MiB of a rank', '']
    lines += ['| memory | ' + ' | '.join(names) + ' |', '|---|' + '---:|' * len(names)]
    lines += [_row(part, [cost.memory[part] for cost in result.costs]) for part in result.costs[0].memory]
    lines += [_row('**peak**', [cost.peak for cost in result.costs]), '']
    lines += ['| communication of a step | ' + ' | '.join(names) + ' |', '|---|' + '---:|' * len(names)]
    lines += [_row(part, [cost.traffic[part] for cost in result.costs], 3) for part in result.costs[0].traffic]
    return '\n'.join([*lines, '', f'Advice: {result.advice.layout or "none of these"}', *(f'- {reason}' for reason in result.advice.why)])


def table(results: Sequence[Estimate]) -> str:
    """A row for each training set: GiB of a rank and MiB of a step."""
    lines = ['| training set | classes | ' + ' | '.join(f'{c.layout.name}, GiB' for c in results[0].costs) +
             ' | whole, MiB a step | sharded, MiB a step | advice |']
    lines += ['|---|' + '---:|' * (len(results[0].costs) + 3) + '---|']
    for name, result in zip(TRAINING_SETS, results, strict=True):
        cells = [f'{cost.peak / GIB:,.1f}' for cost in result.costs]
        wire = [f'{sum(cost.traffic[part] for part in ("head", "head gradient")) / MIB:,.1f}' for cost in result.costs[:2]]
        lines.append(f'| {name} | {result.classes:,} | ' + ' | '.join([*cells, *wire]) + f' | {result.advice.layout or "more GPUs"} |')
    return '\n'.join(lines)


def _row(name: str, sizes: Sequence[int], digits: int = 0) -> str:
    return f'| {name} | ' + ' | '.join(f'{size / MIB:,.{digits}f}' for size in sizes) + ' |'


def main(argv: Sequence[str] | None = None) -> int:
    args = parse_args(argv)
    results: list[Estimate] = []

    def run() -> None:
        results.extend(
            estimate(args.config, args.gpus, args.gpu_memory, classes=list(TRAINING_SETS.values()) if args.table else None, amp=args.amp,
                     device=args.device, cfg_options=args.cfg_options))
        if args.json:
            found = [result.as_dict() for result in results]
            print(json.dumps(found if args.table else found[0], indent=1))
        else:
            print(table(results) if args.table else text(results[0]))

    code = run_command('estimate', run)
    return code or int(not args.table and results[0].advice.layout is None)


if __name__ == '__main__':
    sys.exit(main())
