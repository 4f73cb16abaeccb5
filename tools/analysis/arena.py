#!/usr/bin/env python
"""Losses against each other: same data, same seeds, same schedule; with intervals, and a "tie" where they say so.

    python tools/analysis/arena.py losses --images lfw112.tar --pairs pairs.txt --out work_dirs/arena --processes 2
    python tools/analysis/arena.py alpha --setting smoke

trains what the experiment asks for on LFW without the people of its tenth fold or, without --images, on procedural faces. Every training is
a folder under OUT/trainings named by a hash of all that determines it: what is finished is not done again, also by another experiment; what
was interrupted goes on from its last checkpoint. OUT/<experiment>_<data>_<setting>.md, .json, .png, .svg and .csv are the result; --report
makes them of what is there.
"""
import argparse
import json
import sys
from dataclasses import replace
from pathlib import Path

from mmface.apis.arena import EXPERIMENTS, SETTINGS, ArenaData, Setting, open_data, train_all, write_lfw, write_procedural
from mmface.apis.arena.figure import draw
from mmface.apis.arena.report import Reporter
from mmface.apis.arena.tables import facts_of, to_json, to_markdown
from mmface.apis.lab import loss_name, parse_loss, write_curves
from mmface.utils.atomic_file import atomic_file
from mmface.utils.command import run_command


def parse_args(argv: list[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                                     epilog='Exit codes: 0 reported, also that a loss diverged; 2 bad usage or input.')
    parser.add_argument('experiment', choices=EXPERIMENTS, help='; '.join(f'{name}: {rows.__doc__}' for name, rows in EXPERIMENTS.items()))
    parser.add_argument('--setting', choices=SETTINGS, default='small', help='how much of everything (default: %(default)s)')
    parser.add_argument('--images', type=Path, help='aligned LFW images, a folder or tar archive (default: procedural faces)')
    parser.add_argument('--pairs', type=Path, help="LFW's pairs.txt, for --images")
    parser.add_argument('--losses', nargs='+', metavar='[NAME=]LOSS',
                        help='instead of the setting\'s, the first as baseline: its names, or "Mine=dict(type=\'CosFaceLoss\', m=.3)"')
    parser.add_argument('--seeds', type=int, nargs='+', help="instead of the setting's, at least three to tell chance from skill")
    parser.add_argument('--processes', type=int, default=1, help='trainings at a time, a thread each (default: %(default)s)')
    parser.add_argument('--out', type=Path, default=Path('work_dirs/arena'), help='folder for everything (default: %(default)s)')
    parser.add_argument('--report', action='store_true', help='trains nothing: tables of what is finished')
    return parser.parse_args(argv)


def choose_setting(args: argparse.Namespace) -> Setting:
    """The setting with what the command line changes."""
    setting = SETTINGS[args.setting]
    if args.losses:
        known = SETTINGS['full'].losses
        losses = {}
        for text in args.losses:
            name, equals, config = text.partition('=')
            if text in known:
                name, parsed = text, known[text]
            else:
                named = bool(equals) and '(' not in name
                parsed = parse_loss(config if named else text)
                name = name if named else loss_name(parsed)
            if name in losses:
                raise ValueError(f'--losses: two are called {name!r}; name one, as in "Mine={text}"')
            losses[name] = parsed
        setting = replace(setting, losses=losses)
    return replace(setting, seeds=tuple(dict.fromkeys(args.seeds))) if args.seeds else setting


def prepare_data(args: argparse.Namespace, setting: Setting) -> ArenaData:
    """The data folder, made where it is missing."""
    if (args.images is None) != (args.pairs is None):
        raise ValueError('--images and --pairs belong together')
    if args.images is not None:
        folder = args.out / 'data/lfw'
        if folder.exists():
            print(f'{folder}: as it was made before; remove it for other images', file=sys.stderr)
        else:
            write_lfw(folder, args.images, args.pairs)
    else:
        folder = args.out / f'data/procedural_{"_".join(map(str, setting.procedural))}'
        if not folder.exists():
            write_procedural(folder, *setting.procedural)
    return open_data(folder)


def run(args: argparse.Namespace) -> None:
    if args.processes < 1:
        raise ValueError('there is at least one process')
    setting = choose_setting(args)
    data = prepare_data(args, setting)
    rows = EXPERIMENTS[args.experiment](setting)
    views = [view for row in rows for view in (row.view, row.baseline) if view is not None]
    if not args.report:
        # seed after seed: what an interruption leaves can be compared
        trainings = [view.recipe(seed) for seed in setting.seeds for view in views]
        train_all(trainings, data, setting, args.out / 'trainings', args.processes, lambda text: print(text, flush=True))
    reporter = Reporter(data, setting, args.out / 'trainings')
    lines = [reporter.line(row) for row in rows]
    measures = reporter.examiner.measures
    facts = facts_of(reporter, lines, args.experiment)
    text = to_markdown(facts, lines, measures)
    print(text)
    stem = args.out / f'{args.experiment}_{data.name}_{args.setting}'
    for suffix, content in (('.md', text), ('.json', json.dumps(to_json(facts, lines), indent=2, allow_nan=False) + '\n')):
        with atomic_file(stem.with_name(stem.name + suffix)) as file:
            file.write(content.encode())
    numbers = [(line.label, measure, found.value, *found.interval) for line in lines for measure, found in line.means.items()]
    for path in write_curves(stem, draw(lines, measures), ('row', 'measure', 'mean', 'low', 'high'), numbers):
        print(path)


def main(argv: list[str] | None = None) -> int:
    """Runs the tool and returns its exit code."""
    args = parse_args(argv)
    return run_command('arena', lambda: run(args))


if __name__ == '__main__':
    sys.exit(main())
