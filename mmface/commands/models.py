"""The model zoo: what there is, what it reaches and who says so, what it may be used for, and its weights."""
from __future__ import annotations

import argparse
import dataclasses
import json
from typing import TYPE_CHECKING

from .arguments import add_accept_unverified
from .completers import complete_model

if TYPE_CHECKING:
    from mmface.zoo import ModelEntry


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command line."""
    parser.epilog = 'Exit codes: 0 done; 2 no such model, or a file that cannot be fetched or used.'
    actions = parser.add_subparsers(dest='action', metavar='ACTION', required=True)
    listing = actions.add_parser('list', help='names, and how one comes by the weights')
    listing.add_argument('pattern', nargs='?', help='a part of the name, or all of it with * and ?')
    listing.add_argument('--task', help="only those with a result of this task, such as 'Face Verification'")
    info = actions.add_parser('info', help='everything that the zoo says of one model')
    download = actions.add_parser('download', help='fetch the weights, check them, and print where they are')
    add_accept_unverified(download)
    for action in (listing, info):
        action.add_argument('--json', action='store_true', help='print JSON')
    for action in (info, download):
        action.add_argument('name', help='of the model, see list').completer = complete_model  # type: ignore[attr-defined]


def run(args: argparse.Namespace) -> int:
    """Lists, describes or fetches."""
    from mmface.zoo import fetch_weights, model_index
    index = model_index()
    if args.action == 'download':
        print(fetch_weights(index.find(args.name), args.accept_unverified))
    elif args.action == 'info':
        entry = index.find(args.name)
        print(json.dumps(dataclasses.asdict(entry), default=str, ensure_ascii=False, indent=1) if args.json else describe(entry))
    else:
        entries = [index.find(name) for name in index.names(args.pattern, args.task)]
        print(json.dumps([entry.name for entry in entries], indent=1) if args.json else table(entries))
    return 0


def table(entries: list[ModelEntry]) -> str:
    """A line a model."""
    width = max((len(entry.name) for entry in entries), default=0)
    lines = [f'{entry.name:{width}}  {entry.status:11}  {_best(entry)}'.rstrip() for entry in entries]
    return '\n'.join([*lines, f'{len(entries)} models'])


def describe(entry: ModelEntry) -> str:
    """All that is known of a model, for people to read."""
    whose = f'theirs: {entry.origin.project}, {entry.origin.url}' if entry.origin else 'ours'
    facts = {
        'model': entry.name,
        'method': entry.collection,
        'paper': ', '.join(entry.paper.values()),
        'whose': whose,
        'config': entry.config or '',
        'weights': f'{entry.status}{": " if entry.weights or entry.page else ""}{entry.weights or entry.page or ""}',
        'sha256': entry.sha256 or '',
        'rebuild': entry.rebuild or '',
        'licence': str(entry.licence),
        **{name.lower(): str(value) for name, value in entry.metadata.items()}
    }
    lines = [f'{name:14}{value}' for name, value in facts.items() if value]
    for result in entry.results:
        numbers = ', '.join(f'{name} {value:g}' for name, value in result.metrics.items())
        said = f'{result.protocol or "protocol not stated"}; {result.source or "source not stated"}'
        lines.append(f'{"result":14}{result.dataset}: {numbers}; {said}')
    return '\n'.join(lines)


def _best(entry: ModelEntry) -> str:
    if not entry.results:
        return ''
    first = entry.results[0]
    return f'{first.dataset}: {", ".join(f"{name} {value:g}" for name, value in first.metrics.items())}'
