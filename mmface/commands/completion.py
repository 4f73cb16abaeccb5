"""Prints what makes a shell complete commands, options and configs of mmface.

Put one line where your shell starts:

    eval "$(mmface completion bash)"      in ~/.bashrc
    eval "$(mmface completion zsh)"       in ~/.zshrc, after compinit
    mmface completion fish | source       in ~/.config/fish/config.fish
    eval "`mmface completion tcsh`"       in ~/.tcshrc
"""
import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command line."""
    parser.epilog = 'Exit codes: 0 printed; 2 bad usage.'
    parser.add_argument('shell', choices=['bash', 'zsh', 'fish', 'tcsh'], help='for which shell')


def run(args: argparse.Namespace) -> int:
    """Prints the code."""
    from argcomplete.shell_integration import shellcode
    print(shellcode(['mmface'], shell=args.shell))
    return 0
