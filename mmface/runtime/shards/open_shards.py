"""Finding shards by what a user names."""
from pathlib import Path
from typing import Any
from zipfile import is_zipfile

import torch

from mmface.utils.data_format_error import DataFormatError

from .shard_folder import SHARDS, find_shards, generations
from .shard_index import INDEX, ShardIndex


def read_plain(path: Path) -> Any:
    """What is in a file of ``torch.save``, of which nothing is executed, and its tensors are in memory only when they are used.

    Raises:
        DataFormatError: where it is absent, damaged, or has more in it than plain data.
    """
    if not path.is_file():
        raise DataFormatError(path, hint='is no file')
    try:
        return torch.load(path, map_location='cpu', weights_only=True, mmap=is_zipfile(path))  # not the format of torch before 1.6
    except Exception as error:  # the unpickler's own classes, RuntimeError, EOFError ...
        reason = str(error).partition('\n')[0]
        raise DataFormatError(path, value=reason, hint='damaged, or to be read only by running code that is in it') from error


def read_checkpoint(path: Path) -> dict[str, Any]:
    """A checkpoint, as :func:`read_plain`.

    Raises:
        DataFormatError: likewise, and where it is none.
    """
    checkpoint = read_plain(path)
    if not isinstance(checkpoint, dict):
        raise DataFormatError(path, value=type(checkpoint).__name__, hint='no checkpoint')
    return checkpoint


def place_of_shards(path: Path, checkpoint: dict[str, Any]) -> dict[str, Any]:
    """What the ``checkpoint`` read from ``path`` says of its shards: their folder, id, shapes, and parameters' places in the optimiser.

    Raises:
        DataFormatError: where it has none.
    """
    place = checkpoint.get('meta', {}).get('shards')
    if place is None:
        raise DataFormatError(path, hint='has no shards: its prototypes, if it has any, are in the file itself')
    return place


def shards_of(path: Path, place: dict[str, Any]) -> tuple[Path, ShardIndex]:
    """The shards at the ``place`` that the checkpoint ``path`` names, their files checked.

    They lie in the folder of the checkpoint's present name, or of the one under which it was written.

    Raises:
        DataFormatError: where they are missing, damaged, or another checkpoint's.
    """
    renamed = path.with_suffix(SHARDS)
    return _checked(find_shards(renamed if renamed.is_dir() else path.with_name(Path(place['folder']).name), place['id']))


def shards_in(folder: Path) -> tuple[Path, ShardIndex]:
    """The shards in ``<name>.shards`` or ``<name>.shards/<id>``, their files checked.

    Raises:
        DataFormatError: where there are none or several, or they are damaged.
    """
    if (folder / INDEX).is_file():
        return _checked(folder)
    found = generations(folder)
    if len(found) != 1:
        names = ', '.join(path.name for path in found)
        raise DataFormatError(folder, value=f'{len(found)} folders of shards {names}', hint='name one, or the .pth that they belong to')
    return _checked(found[0])


def _checked(folder: Path) -> tuple[Path, ShardIndex]:
    index = ShardIndex.read(folder)
    index.check_files(folder)
    return folder, index
