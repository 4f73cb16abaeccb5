"""Ranks of a distributed training that end together, each with the reason."""
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import torch.distributed as dist

#: Words of a collective operation that did not come about; gloo's errors have no class of their own.
BROKEN = ('gloo', 'NCCL', 'Connection', 'connection', 'Timed out', 'timed out', 'Socket')


class RankFailedError(ConnectionError):
    """Another rank has failed, and this one cannot go on; the message says which, and why."""


@contextmanager
def end_together(patience: float = 10.) -> Iterator[None]:
    """Where an exception leaves the body on one rank, the others' collective operations end too, and they raise what it was.

    Without this they would wait for it until the group's timeout, and then name a socket. To be entered on all ranks; the process group
    cannot be used after a failure. NCCL's operations on a GPU do not end so early: there it is the launcher that ends the others, once the
    failed rank has gone, or NCCL's watchdog after the timeout.

    Args:
        patience: how long a failed rank waits for the others to have heard, in seconds: a launcher that sees it go ends them.

    Raises:
        RankFailedError: where another rank failed first, or has gone without a word.
    """
    try:
        yield
    except Exception as error:
        if not (dist.is_available() and dist.is_initialized() and dist.get_world_size() > 1):
            raise
        reason = _agree_on_reason(error, patience)
        if reason is None:
            raise
        raise RankFailedError(reason) from error


def _agree_on_reason(error: Exception, patience: float) -> str | None:
    """Why this rank has to stop, if not for its own ``error``."""
    rank, ranks = dist.get_rank(), dist.get_world_size()
    store = dist.distributed_c10d._get_default_store()
    own = f'rank {rank} stopped with {type(error).__name__}: {error}'
    broken = isinstance(error, RuntimeError) and any(word in str(error) for word in BROKEN)
    reason = own
    with suppress(RuntimeError):  # the store has gone with the rank that kept it
        reason = store.compare_set('mmface/reason', '', own).decode()
        if dist.get_backend() == 'gloo':
            dist.destroy_process_group()  # closes the connections on which others wait
        store.add('mmface/ended', 1)
        end = time.monotonic() + patience
        while store.add('mmface/ended', 0) < ranks and time.monotonic() < end:
            time.sleep(.05)
    if not broken:
        return None
    if reason == own:
        return f'another rank is gone or does not answer and left no word, see its log (was it killed, for its memory?): {error}'
    return reason
