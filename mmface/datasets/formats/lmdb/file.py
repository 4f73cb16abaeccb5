"""Opens LMDB files for reading, once a process."""
import os
from pathlib import Path
from typing import TYPE_CHECKING

from mmface.utils.dependency import require_extra

from ..errors import DataFormatError

if TYPE_CHECKING:
    import lmdb

#: device and inode of a file -> the process that opened it, and the handle. LMDB allows one a process, and none that came by fork.
_OPEN: dict[tuple[int, int], tuple[int, 'lmdb.Environment']] = {}


def data_file(path: Path) -> Path:
    """The file of an LMDB that is named by its folder or by itself."""
    return path / 'data.mdb' if path.is_dir() else path


def open_lmdb(path: Path) -> 'lmdb.Environment':
    """A read-only handle without lock files, so that folders nobody may write to serve as well. It lives as long as the process.

    Args:
        path: the folder of ``data.mdb``, or the file.

    Raises:
        DataFormatError: where the file is none of LMDB's, or shorter than it says: a map of it would crash.
        ImportError: without lmdb, naming the extra.
    """
    file = data_file(path)
    status = file.stat()
    identity = status.st_dev, status.st_ino
    process, environment = _OPEN.get(identity, (0, None))
    if environment is not None and process == os.getpid():
        return environment
    if environment is not None:
        environment.close()  # the parent's; its own copy stays open
    _OPEN[identity] = os.getpid(), _open(path, file, status.st_size)
    return _OPEN[identity][1]


def _open(path: Path, file: Path, size: int) -> 'lmdb.Environment':
    require_extra('lmdb', f'{path.name} in LMDB')
    import lmdb
    try:
        environment = lmdb.open(str(path), subdir=path.is_dir(), readonly=True, lock=False, readahead=False)
    except lmdb.Error as error:
        raise DataFormatError(file, value=str(error), hint='the file is damaged or no LMDB: copy it again') from None
    needed = (environment.info()['last_pgno'] + 1) * environment.stat()['psize']
    if needed > size:
        environment.close()
        raise DataFormatError(file, value=f'needs {needed} bytes, file has {size}', hint='it is cut short: copy it again')
    return environment
