"""The identity of a training set."""
import hashlib
from pathlib import Path

from .download import sha256_of


def data_hash(path: Path) -> str:
    """SHA-256 of a file; of a folder that over the sorted relative paths and SHA-256 of its files, so that moving it changes nothing.

    Raises:
        FileNotFoundError: there is nothing at ``path``.
    """
    if path.is_file():
        return sha256_of(path)
    if not path.is_dir():
        raise FileNotFoundError(f'{path}: there is no such training set')
    digest = hashlib.sha256()
    for file in sorted((each for each in path.rglob('*') if each.is_file()), key=lambda each: each.relative_to(path).as_posix()):
        digest.update(f'{file.relative_to(path).as_posix()}\0{sha256_of(file)}\n'.encode())
    return digest.hexdigest()
