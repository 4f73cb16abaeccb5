"""KEY=VALUE on a command line."""
import argparse
from collections.abc import Sequence
from typing import Any

import mmengine.config


class DictAction(mmengine.config.DictAction):
    """MMEngine's, mended: what it cannot read is answered with the usage and exit code 2, and a path keeps its spaces.

    MMEngine leaves with a traceback, and takes the spaces out of every value: ``a b.rec`` becomes ``ab.rec``, maybe another file.
    """

    def __call__(self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: str | Sequence[Any] | None,
                 option_string: str | None = None) -> None:  # yapf: disable
        for value in values or ():
            try:
                super().__call__(parser, namespace, [value], option_string)
            except (ValueError, AssertionError, RecursionError):
                parser.error(f'{option_string}: cannot read {value!r}: expected KEY=VALUE, a list as in c="[1,2]"; what is more than lists '
                             'and plain values, such as dicts in a list, goes into a config')

    @staticmethod
    def _parse_iterable(val: str) -> Any:
        parent = mmengine.config.DictAction
        return parent._parse_iterable(val) if set(',[]()') & set(val) else parent._parse_int_float_bool(val.strip('\'"'))
