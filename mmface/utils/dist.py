"""The group of processes of a distributed training: joining it where there is no GPU, and leaving it."""
import gc
import os
import subprocess
from datetime import timedelta

import torch
import torch.distributed

#: ``model_wrapper_cfg`` for a model on the CPU: MMEngine's default passes device ids, which DistributedDataParallel refuses there.
CPU_MODEL_WRAPPER = dict(type='MMDistributedDataParallel', device_ids=None, broadcast_buffers=False)


def init_cpu_group(launcher: str, timeout: float = 1800) -> None:
    """Joins the processes that ``launcher`` started in a gloo group, as the default group; MMEngine's own start needs a GPU.

    :class:`mmengine.runner.Runner` uses a group that is there already. The processes find each other through ``MASTER_ADDR`` and
    ``MASTER_PORT`` (29500 by default).

    Args:
        launcher: ``'pytorch'`` (torchrun), ``'slurm'`` or ``'mpi'`` (Open MPI).
        timeout: of a collective operation, in seconds.

    Raises:
        ValueError: for another launcher.
        KeyError: where an environment variable of the launcher is missing: it names the variable.
    """
    if launcher not in _ENVIRONMENTS:
        raise ValueError(f'launcher must be one of {sorted(_ENVIRONMENTS)}, got {launcher!r}')
    for name, source in _ENVIRONMENTS[launcher].items():
        os.environ[name] = os.environ[source]
    if launcher == 'slurm' and 'MASTER_ADDR' not in os.environ:
        nodes = subprocess.run(['scontrol', 'show', 'hostnames', os.environ['SLURM_NODELIST']], capture_output=True, text=True, check=True)
        os.environ['MASTER_ADDR'] = nodes.stdout.split()[0]
    os.environ.setdefault('MASTER_PORT', '29500')
    torch.distributed.init_process_group('gloo', timeout=timedelta(seconds=timeout))


def leave_group() -> None:
    """Waits for the other processes, where there are any, and leaves their group. To be called before the process ends.

    Without this a process that did all its work may abort as it ends (exit code 134, "terminate called without an active exception"):
    gloo's threads then hand tensors back to an interpreter that is no more (pytorch/pytorch#190489). A group ends its threads with its
    last reference, and a wrapped model has one: hold none any more.
    """
    if torch.distributed.is_available() and torch.distributed.is_initialized():
        gc.collect()
        torch.distributed.barrier()
        torch.distributed.destroy_process_group()


def check_model_wrapper(name: str) -> None:
    """Refuses a wrapper, by the name of its class, that a head of prototypes does not survive.

    Raises:
        ValueError: with the reason.
    """
    for part, reason in _REFUSED.items():
        if part in name:
            raise ValueError(f'{name} is not supported: {reason}. Use MMDistributedDataParallel, the default, and for many classes '
                             'model.head.sharded=True, which leaves each GPU its part of them')


_FLATTENED = "it flattens the parameters before MMEngine's Runner initialises them, and the Runner saves those of rank 0 alone"
_REFUSED = {
    'FullySharded': _FLATTENED,
    'FSDP': _FLATTENED,
    'SeparateDistributed': 'it wraps the head by itself and averages prototypes over ranks that hold different ones',
}
_ENVIRONMENTS = {
    'pytorch': {name: name for name in ('RANK', 'WORLD_SIZE', 'LOCAL_RANK', 'MASTER_ADDR')},
    'slurm': dict(RANK='SLURM_PROCID', WORLD_SIZE='SLURM_NTASKS', LOCAL_RANK='SLURM_LOCALID'),
    'mpi': dict(RANK='OMPI_COMM_WORLD_RANK', WORLD_SIZE='OMPI_COMM_WORLD_SIZE', LOCAL_RANK='OMPI_COMM_WORLD_LOCAL_RANK'),
}
