"""The entry point of ``mmface``, and of each script in ``tools/``."""
import argparse
import difflib
import os
import sys
from collections.abc import Callable
from importlib import import_module
from types import ModuleType

from mmface.utils.command import run_command
from mmface.version import __version__

COMMANDS = (
    'demo', 'align', 'split', 'doctor', 'train', 'test', 'evaluate', 'export', 'annotate', 'verify', 'gallery', 'web', 'models',
    'convert', 'completion')
"""In the order in which one comes to need them."""

_EPILOG = """\
mmface COMMAND --help says more. Exit codes: 0 ran; 1 a check that was asked for failed; 2 bad usage or input; 3 finished, but inputs
were skipped; 130 ended by Ctrl-C. Before you compare faces of people, read docs/responsible_use.md."""


def main(argv: list[str] | None = None) -> int:
    """Runs the command of ``argv`` (default: the command line) and returns its exit code."""
    parser = build_parser()
    if '_ARGCOMPLETE' in os.environ:  # the shell asks for completions
        import argcomplete
        argcomplete.autocomplete(parser)
    argv = sys.argv[1:] if argv is None else argv
    if not argv:
        parser.print_help(sys.stderr)
        return 2
    if not argv[0].startswith('-') and argv[0] not in COMMANDS:
        parser.error(f'there is no command {argv[0]!r}{_suggestion(argv[0])}')
    args = parser.parse_args(argv)
    return run_command(f'mmface {args.command}', lambda: command_module(args.command).run(args))


def build_parser() -> argparse.ArgumentParser:
    """The parser of ``mmface`` with all its commands."""
    parser = argparse.ArgumentParser('mmface', description='Face recognition: train, evaluate, export, and ask.', epilog=_EPILOG,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)  # yapf: disable
    parser.add_argument('--version', action='version', version=f'mmface {__version__}')
    commands = parser.add_subparsers(dest='command', metavar='COMMAND', required=True)
    for name in COMMANDS:
        module = command_module(name)
        add(module, commands.add_parser(name, help=(module.__doc__ or '').partition('\n')[0], **_look(module)))
    return parser


def script(module: ModuleType, name: str) -> Callable[[list[str] | None], int]:
    """``main(argv=None)`` of a script that is the one command ``module``, and calls itself ``name`` in messages."""

    def main(argv: list[str] | None = None) -> int:
        parser = argparse.ArgumentParser(**_look(module))
        add(module, parser)
        args = parser.parse_args(argv)
        return run_command(name, lambda: module.run(args))

    return main


def command_module(name: str) -> ModuleType:
    """The module of a command."""
    return import_module(f'mmface.commands.{name}')


def add(module: ModuleType, parser: argparse.ArgumentParser) -> None:
    """Gives ``parser`` the arguments of a command; ``args.refuse(message)`` then ends with the usage and exit code 2."""
    parser.set_defaults(refuse=parser.error)
    module.add_arguments(parser)


def _look(module: ModuleType) -> dict:
    return dict(description=module.__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)


def _suggestion(name: str) -> str:
    near = difflib.get_close_matches(name, COMMANDS, n=3)
    return f'; did you mean {" or ".join(near)}?' if near else f'; there are {", ".join(COMMANDS)}'
