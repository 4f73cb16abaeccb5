#!/usr/bin/env python
"""Makes of a checkpoint what can be given away: weights without head, names and training state, a manifest, and a model card to fill in."""
import argparse
import json
import sys
from pathlib import Path

from mmface.utils.command import run_command
from mmface.zoo.publish import publish


def parse_args(argv: list[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, epilog='Exit codes: 0 written; 2 bad usage or input.')
    parser.add_argument('checkpoint', type=Path, help='as the training wrote it')
    parser.add_argument('out', type=Path, metavar='NAME.safetensors', help='NAME.json and NAME.md are written beside it')
    parser.add_argument('--config', type=Path, help='what was trained (default: the config beside the checkpoint)')
    parser.add_argument('--backbone-only', action=argparse.BooleanOptionalAction, default=True,
                        help='leave the head out: a prototype is a template of a person who was trained on (default: do)')
    parser.add_argument('--data', type=Path, metavar='PATH', help='the training set, file or folder, to be hashed')
    parser.add_argument('--training-set', default='unknown', metavar='NAME', help='what it was trained on (default: %(default)s)')
    parser.add_argument('--licence-code', default='unknown', metavar='SPDX', help='licence of the code (default: %(default)s)')
    parser.add_argument('--licence-weights', default='unknown', metavar='TERMS', help='licence of the weights (default: %(default)s)')
    parser.add_argument('--licence-data', default='unknown', metavar='TERMS', help='licence of the training images (default: %(default)s)')
    parser.add_argument('--results', type=Path, metavar='JSON', help='what evaluate --out wrote about the network')
    parser.add_argument('--command', metavar='TEXT', help='the command that gave these results')
    parser.add_argument('--summary', metavar='TEXT', help='opens the card')
    return parser.parse_args(argv)


def run(args: argparse.Namespace) -> None:
    """Publishes, and says what was left out."""
    written = publish(
        args.checkpoint,
        args.out,
        config=args.config,
        keep_head=not args.backbone_only,
        training_set=args.training_set,
        licence=dict(code=args.licence_code, weights=args.licence_weights, data=args.licence_data),
        data=args.data,
        results=None if args.results is None else json.loads(args.results.read_text(encoding='utf-8')),
        command=args.command,
        summary=args.summary)
    print(f'removed  {", ".join(written.removed) or "nothing"}')
    for file in (written.weights, written.manifest, written.card):
        print(f'written  {file}, {file.stat().st_size:,} bytes')
    if not args.backbone_only:
        print('The head is in the file: its prototypes are templates of the people in the training set.', file=sys.stderr)


def main(argv: list[str] | None = None) -> int:
    """Runs the tool and returns its exit code."""
    args = parse_args(argv)
    return run_command('publish', lambda: run(args))


if __name__ == '__main__':
    sys.exit(main())
