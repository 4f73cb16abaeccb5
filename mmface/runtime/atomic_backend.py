"""A file that is there is whole: the storage backend that checkpoints and their pointer are written through."""
import os
from pathlib import Path

from mmengine.fileio import LocalBackend, register_backend

TEMPORARY = '.tmp'  # ending of a file that is being written


@register_backend('mmface.atomic', force=True)
class AtomicBackend(LocalBackend):
    """MMEngine's local backend, except that a process killed at any moment leaves the old file or the new one, never a part of one.

    The bytes go to ``<name>.tmp`` in the same directory and to the disk, then the file takes its name, then the directory goes to the
    disk. ``backend_args=dict(backend='mmface.atomic')`` selects it wherever MMEngine takes backend arguments.
    """

    def put(self, obj: bytes, filepath: str | Path) -> None:
        path = Path(filepath)
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_name(path.name + TEMPORARY)
        with open(temporary, 'wb') as file:
            file.write(obj)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
        directory = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(directory)
        finally:
            os.close(directory)

    def put_text(self, obj: str, filepath: str | Path, encoding: str = 'utf-8') -> None:
        self.put(obj.encode(encoding), filepath)
