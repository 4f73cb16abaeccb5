"""What a command line says when something is wrong, and the exit code it ends with."""
import os
import re
import select
import sys
import traceback
from collections.abc import Callable

INTERRUPTED, PIPE_CLOSED = 130, 141  # 128 and the signal's number, as shells count


def run_command(name: str, command: Callable[[], int | None]) -> int:
    """Calls ``command`` and returns its exit code, 0 for None; 2 where usage or input was wrong, which one line on standard error says.

    A mistake in a config surfaces as whatever class MMEngine's registries and Python's calls raise; those come with their traceback, which
    names the place. An error from a data loader's worker arrives wrapped in the worker's traceback and is unwrapped. Ctrl-C, and a reader
    of the output who stops reading (``| head``), end it without a word.
    """
    try:
        code = command() or 0
        sys.stdout.flush()
    except KeyboardInterrupt:
        return INTERRUPTED
    except (ValueError, OSError, ImportError) as error:
        if isinstance(error, BrokenPipeError) and _nobody_reads():
            return PIPE_CLOSED
        sys.stderr.write(f'{name}: {_message(error)}\n')
        return 2
    except (KeyError, TypeError, AttributeError, SyntaxError, AssertionError) as error:
        traceback.print_exc()
        sys.stderr.write(f'{name}: {_message(error)}\n')
        return 2
    return code


def _message(error: Exception) -> str:
    text = str(error.args[0]) if isinstance(error, KeyError) and error.args else str(error)
    if 'Caught' in text and 'DataLoader worker' in text:
        text = re.sub(r'^[\w.]+: ', '', text.strip().splitlines()[-1])
    return text


def _nobody_reads() -> bool:
    """Whether it is standard output that is closed at the other end; what it still holds is then thrown away."""
    try:
        stream = sys.stdout.fileno()
        watch = select.poll()
        watch.register(stream, 0)
        if not watch.poll(0):
            return False
    except (OSError, ValueError, AttributeError):  # no file, or a system without poll
        return False
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream)
    os.close(nowhere)
    return True
