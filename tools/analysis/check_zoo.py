#!/usr/bin/env python
"""Checks every entry of the model zoo against its config; fills in what is computed; prints the zoo as a table."""
import argparse
import sys

from mmface.utils.command import run_command
from mmface.zoo.checker import check_index, write_fields, zoo_table
from mmface.zoo.metafile import read_mapping
from mmface.zoo.model_index import ModelIndex, model_index


def parse_args(argv: list[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, epilog='Exit codes: 0 no fault; 1 faults, one a line; 2 bad usage or input.')
    parser.add_argument('names', nargs='*', metavar='NAME', help='of models (default: all)')
    parser.add_argument('--write', action='store_true', help='first fill in what is computed, for all models')
    parser.add_argument('--table', action='store_true', help='print a Markdown table instead')
    return parser.parse_args(argv)


def run(args: argparse.Namespace) -> list[str]:
    """Does what is asked for; returns the faults."""
    index = model_index()
    if args.write:
        for metafile in read_mapping(index.path).get('Import', ()):
            for name in write_fields((index.root / metafile).resolve(), index.root):
                print(f'written  {name}')
        index = ModelIndex(index.path)
    names = [index.find(name).name for name in args.names] or sorted(index.entries)
    if args.table:
        print(zoo_table(index.entries[name] for name in names))
        return []
    return check_index(index, names)


def main(argv: list[str] | None = None) -> int:
    """Runs the tool and returns its exit code."""
    args = parse_args(argv)
    faults: list[str] = []
    code = run_command('check_zoo', lambda: faults.extend(run(args)))
    for fault in faults:
        print(fault)
    return code or int(bool(faults))


if __name__ == '__main__':
    sys.exit(main())
