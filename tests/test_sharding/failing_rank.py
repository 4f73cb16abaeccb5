"""A rank that fails, or waits for one that does; what it then says goes to a file."""
import os
import sys
import time
from datetime import timedelta
from pathlib import Path

import torch
import torch.distributed as dist

from mmface.utils.end_together import end_together


def fail():
    raise ValueError('image 7 is broken')


FAULTS = dict(one_raises=fail, both_raise=fail, one_hangs=lambda: time.sleep(12), one_is_killed=lambda: os._exit(9))


def main(rank, world, folder, fault, culprit, timeout):
    Path(folder, f'ready{rank}').touch()
    while len(list(Path(folder).glob('ready*'))) < int(world):  # the timeout is for what comes after all have started
        time.sleep(.05)
    dist.init_process_group('gloo', init_method=f'file://{folder}/meeting', rank=int(rank), world_size=int(world),
                            timeout=timedelta(seconds=float(timeout)))
    dist.barrier()
    start = time.monotonic()
    try:
        with end_together(patience=5.):
            if rank == culprit or fault == 'both_raise':
                FAULTS[fault]()
            dist.all_reduce(torch.ones(3))
    except Exception as error:  # noqa: BLE001
        with open(f'{folder}/{rank}', 'w') as file:
            file.write(f'{time.monotonic() - start}\n{type(error).__name__}: {error}')
        return 2
    return 0


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
