#!/usr/bin/env python
"""Prototypes of a checkpoint: whole, in shards, or from insightface.

    python tools/model_converters/head.py info   work_dirs/x/epoch_20.pth --check
    python tools/model_converters/head.py merge  work_dirs/x/epoch_20.pth whole.pth     # a run with a whole head goes on from it
    python tools/model_converters/head.py merge  work_dirs/x/epoch_20.pth prototypes.safetensors
    python tools/model_converters/head.py split  whole.pth sharded.pth                  # and sharded.shards beside it
    python tools/model_converters/head.py import glint360k_r100/ prototypes.safetensors # of checkpoint_gpu_0.pt, checkpoint_gpu_1.pt ...
    python tools/model_converters/head.py import glint360k_r100/ whole.pth --network converted.pth

A sharded head (model.head.sharded=True) writes epoch_20.shards beside epoch_20.pth. Resuming and load_from take the pair, whatever the
number of ranks, and whole checkpoints; these tools are for what is to leave the training, or to come into it from elsewhere.

Exit codes: 0 done; 1 info --check found a damaged file; 2 bad usage or input.
"""
import argparse
import sys
from pathlib import Path

from mmface.runtime.shards.describe import damaged_files, describe
from mmface.runtime.shards.merge import merge
from mmface.runtime.shards.partial_fc import import_partial_fc
from mmface.runtime.shards.split import split
from mmface.utils.command import run_command


def parse_args(argv: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest='command', required=True)
    command = commands.add_parser('merge', help='from shards to one file')
    command.add_argument('source', type=Path, help='.pth with its .shards beside it, or a .shards folder')
    command.add_argument('output', type=Path, help='.pth: a whole checkpoint; .safetensors: the prototypes alone, streamed')
    command = commands.add_parser('split', help='from one file to shards')
    command.add_argument('source', type=Path, help='.pth of a run with a whole head')
    command.add_argument('output', type=Path, help='the .pth to write, with .shards beside it')
    command = commands.add_parser('info', help='what a checkpoint has of prototypes, and whether its files are whole')
    command.add_argument('source', type=Path, help='.pth, or a .shards folder')
    command.add_argument('--check', action='store_true', help='read every byte and compare checksums')
    command = commands.add_parser('import', help="from the ranks' files of insightface's Partial FC")
    command.add_argument('source', type=Path, nargs='+', help='folder of checkpoint_gpu_0.pt ..., or rank_0_softmax_weight.pt ...')
    command.add_argument('output', type=Path, help='.safetensors or .pth to write')
    command.add_argument('--network', type=Path, metavar='PTH', help="mmface's checkpoint of the network, to be copied with them")
    return parser.parse_args(argv)


def main(argv: list[str] | None = None) -> int:
    args = parse_args(argv)
    damaged: list[str] = []

    def do() -> None:
        if args.command == 'merge':
            print(f'{args.output}: {", ".join(merge(args.source, args.output))}')
        elif args.command == 'split':
            print(f'{args.output} and {args.output.with_suffix(".shards")}: {", ".join(split(args.source, args.output))}')
        elif args.command == 'import':
            print('{}: {} classes, {} values each'.format(args.output, *import_partial_fc(args.source, args.output, args.network)))
        else:
            for line in describe(args.source):
                print(line)
            if args.check:
                damaged.extend(damaged_files(args.source))
                print(f'checksums   {", ".join(damaged) + " differ from what was written" if damaged else "all as written"}')

    return run_command('head.py', do) or (1 if damaged else 0)


if __name__ == '__main__':
    sys.exit(main())
