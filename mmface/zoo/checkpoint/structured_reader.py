"""A checkpoint read by structure, whichever way torch wrote it."""
from pathlib import Path
from typing import Any

from mmface.utils.data_format_error import DataFormatError

from .archive import open_archive
from .legacy_file import open_legacy_file
from .machine import CheckpointMachine
from .opcodes import OPCODES
from .values import CheckpointValues

_STARTS = {
    b'PK\x03\x04': 'zip',
    b'\x80': 'legacy',
    b'version https://git-lfs': 'a pointer of Git LFS: fetch the file itself (git lfs pull)',
    b'<': 'a page of HTML or XML: the download got an answer, not the file',
    b'\x93NUMPY': 'a NumPy array',
}


def read_structured(path: Path) -> Any:
    """What a file of ``torch.save`` holds: tensors and plain values; what else it names is :class:`~.stand_ins.Inert`.

    Raises:
        DataFormatError: another kind of file, a damaged one, or one that names what no checkpoint needs.
    """
    with path.open('rb') as file:
        start = file.read(512)
    kind = next((kind for magic, kind in _STARTS.items() if start.startswith(magic)), 'neither a zip archive nor a pickle')
    if kind == 'zip':
        return _read_zip(path)
    if kind == 'legacy':
        return _read_legacy(path)
    if start[257:262] == b'ustar':
        raise DataFormatError(path, value='the tar archive of torch before 0.1.11', hint=isolated_conversion(path))
    raise DataFormatError(path, value=kind if start else 'is empty', hint='expected what torch.save writes, or .safetensors')


def _read_zip(path: Path) -> Any:
    with open_archive(path) as archive:
        if not archive.is_little_endian():
            raise DataFormatError(path, value='numbers of a big-endian machine', hint='save the file again on a little-endian one')
        data = archive.read_pickle()
        found = CheckpointMachine(data, OPCODES, path, 'data.pkl, ', bytes_per_opcode=1).run()
        return CheckpointValues(path, data, archive.read_storage).make(found)


def _read_legacy(path: Path) -> Any:
    with open_legacy_file(path) as file:
        return CheckpointValues(path, file.data, file.read_storage).make(file.found)


def isolated_conversion(path: Path) -> str:
    """What to do with a file that only full unpickling reads: a command that does it where it can harm nothing."""
    return ('only full unpickling reads it, which runs whatever code the file contains. Where its origin is trusted, turn it into plain '
            'tensors in a container that reaches neither the network nor your files, and use what it writes:\n'
            f'mkdir -p plain && docker run --rm --network none -v "{path.resolve()}:/in.pt:ro" -v "$PWD/plain:/plain" pytorch/pytorch '
            f'python -c "{PLAIN_TENSORS}"')


#: Run in isolation: /in.pt, whatever it holds, to /plain/tensors.pt, a dict of tensors.
PLAIN_TENSORS = ("import torch; o = torch.load('/in.pt', map_location='cpu', weights_only=False); "
                 "o = o.get('state_dict', o) if isinstance(o, dict) else o.state_dict(); "
                 "torch.save({k: torch.as_tensor(v) for k, v in o.items()}, '/plain/tensors.pt')")
