"""Folders of shards on the disk: ``<name>.shards/<id>/``, beside ``<name>.pth``."""
import shutil
import uuid
import warnings
from collections.abc import Mapping
from pathlib import Path

import torch.distributed as dist
from mmengine.dist import broadcast_object_list, is_main_process
from torch.distributed.checkpoint.api import CheckpointException
from torch.distributed.checkpoint.state_dict_loader import load
from torch.distributed.checkpoint.state_dict_saver import save

from mmface.runtime.atomic_backend import TEMPORARY
from mmface.utils.data_format_error import DataFormatError

from .planners import RowsLoadPlanner, RowsSavePlanner
from .rows import Rows
from .shard_index import ShardIndex
from .shard_reader import ShardReader
from .shard_writer import ShardWriter, sync_folder
from .together import together

SHARDS = '.shards'


def save_shards(folder: Path, tensors: Mapping[str, Rows]) -> str:
    """Writes every rank's rows to ``folder/<id>``, which appears there whole; all ranks call it.

    What the folder held before stays: the ``.pth`` that belongs to it is still there.

    Returns:
        The id, new and the same on all ranks.

    Raises:
        OSError: on all ranks, where one could not write.
    """
    names = [uuid.uuid4().hex[:16]]
    broadcast_object_list(names)
    final = folder / names[0]
    torn = folder / (names[0] + TEMPORARY)
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings('ignore', 'torch.distributed is disabled')
            save(dict(tensors), storage_writer=ShardWriter(torn, names[0]), planner=RowsSavePlanner())
    except CheckpointException as error:
        raise OSError(f'{folder} could not be written: {_first(error)}') from error
    together(lambda: _publish(torn, final))
    return names[0]


def load_shards(folder: Path, index: ShardIndex, tensors: Mapping[str, Rows]) -> None:
    """Reads every rank's rows of ``tensors`` from a folder with ``index`` into their places; all ranks call it.

    Raises:
        ValueError: on all ranks, for a tensor that is not there or has another shape, or where one could not read.
    """
    for name, rows in tensors.items():
        if name not in index.tensors:
            raise ValueError(f'{folder} has no {name!r}; it has {", ".join(index.tensors)}')
        if list(rows.shape) != index.tensors[name].shape:
            raise ValueError(f'{name!r} is {index.tensors[name].shape} in {folder} and {list(rows.shape)} in the model')
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings('ignore', 'torch.distributed is disabled')
            load(dict(tensors), storage_reader=ShardReader(folder, index), planner=RowsLoadPlanner())
    except CheckpointException as error:
        raise ValueError(f'{folder} could not be read: {_first(error)}') from error


def find_shards(folder: Path, id: str) -> Path:
    """The folder of shards ``id`` within ``folder``, to be read.

    Raises:
        DataFormatError: where it is not there, which says what is.
    """
    if id == Path(id).name and (folder / id).is_dir():
        return folder / id
    others = generations(folder)
    if others:
        names = ', '.join(path.name for path in others)
        raise DataFormatError(folder, value=names, hint=f'belongs to another checkpoint, this one has {id}')
    raise DataFormatError(folder / id, hint='is missing, the folder with the prototypes of this checkpoint: keep it beside the .pth file')


def generations(folder: Path) -> list[Path]:
    """The folders of shards in ``folder``: one, but for a run killed while it wrote a checkpoint again."""
    return sorted(path for path in folder.glob('*') if path.is_dir() and path.suffix != TEMPORARY)


def keep_only(folder: Path, id: str) -> None:
    """Removes all but the shards ``id``."""
    for path in folder.iterdir():
        if path.name != id:
            shutil.rmtree(path)


def remove_folder(folder: Path) -> None:
    """Removes a folder, so that one that keeps its name is whole at any moment."""
    if folder.is_dir():
        torn = folder.with_name(folder.name + TEMPORARY)
        shutil.rmtree(torn, ignore_errors=True)
        folder.rename(torn)
        shutil.rmtree(torn)


def remove_torn(directory: Path) -> None:
    """Removes what killed runs left half written, or half removed, in ``directory``."""
    for pattern in (f'*{SHARDS}{TEMPORARY}', f'*{SHARDS}/*{TEMPORARY}'):
        for path in directory.glob(pattern):
            shutil.rmtree(path)
    for folder in directory.glob(f'*{SHARDS}'):
        if not any(folder.iterdir()):
            folder.rmdir()


def _publish(torn: Path, final: Path) -> None:
    if is_main_process():
        torn.rename(final)
        sync_folder(final.parent)
        sync_folder(final.parent.parent)


def _first(error: CheckpointException) -> str:
    rank, (reason, _) = next(iter(error.failures.items()))
    return f'rank {rank}: {type(reason).__name__}: {reason}' if dist.is_initialized() else f'{type(reason).__name__}: {reason}'
