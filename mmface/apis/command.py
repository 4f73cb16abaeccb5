"""What a command line says when something is wrong."""
import re
import sys
import traceback
from collections.abc import Callable


def run_command(name: str, command: Callable[[], object]) -> int:
    """Calls ``command`` and returns the exit code: 0, or 2 where usage or input was wrong, which one line on standard error says.

    A mistake in a config surfaces as whatever class MMEngine's registries and Python's calls raise; those come with their traceback, which
    names the place. An error from a data loader's worker arrives wrapped in the worker's traceback and is unwrapped.
    """
    try:
        command()
    except (ValueError, OSError, ImportError) as error:
        sys.stderr.write(f'{name}: {_message(error)}\n')
        return 2
    except (KeyError, TypeError, AttributeError, SyntaxError, AssertionError) as error:
        traceback.print_exc()
        sys.stderr.write(f'{name}: {_message(error)}\n')
        return 2
    return 0


def _message(error: Exception) -> str:
    text = str(error.args[0]) if isinstance(error, KeyError) and error.args else str(error)
    if 'Caught' in text and 'DataLoader worker' in text:
        text = re.sub(r'^[\w.]+: ', '', text.strip().splitlines()[-1])
    return text
