"""The zip archive that ``torch.save`` writes since torch 1.6."""
import struct
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mmface.utils.data_format_error import DataFormatError

_BROKEN = (zipfile.BadZipFile, EOFError, NotImplementedError, OSError, RuntimeError, ValueError, struct.error)
_CUT = 'the file is cut short or damaged: copy it again'
_LARGEST_PICKLE = 1 << 28  # bytes; an honest one has some hundred a tensor


class CheckpointArchive:
    """A checked archive: nothing packed, nothing twice, and no more in it than the file is long.

    Args:
        path: the file.
        archive: the open archive.

    Raises:
        DataFormatError: a damaged archive, or one of another kind.
    """

    def __init__(self, path: Path, archive: zipfile.ZipFile) -> None:
        self.path, self.archive = path, archive
        members = archive.infolist()
        self.members = {member.filename: member for member in members}
        if len(self.members) != len(members):
            raise DataFormatError(path, value='has two members of one name', hint='the file is damaged, or made to deceive')
        for member in members:
            if member.compress_type != zipfile.ZIP_STORED or member.flag_bits & 1:
                value = f'{member.file_size} bytes packed into {member.compress_size}'
                raise DataFormatError(path, member.filename, value, 'torch.save packs nothing: unpack the archive if it holds a checkpoint')
        if sum(member.file_size for member in members) > path.stat().st_size:
            raise DataFormatError(path, value='holds more bytes than it is long', hint='the file is damaged, or made to deceive')
        pickles = [name for name in self.members if name == 'data.pkl' or name.endswith('/data.pkl')]
        if len(pickles) != 1:
            raise DataFormatError(path, value=f'a zip archive with {len(pickles)} members called data.pkl', hint='not a checkpoint')
        self.folder = pickles[0].removesuffix('data.pkl')
        if self.folder + 'constants.pkl' in self.members:
            raise DataFormatError(path, value='a TorchScript archive, which is a program', hint='save the state dict of its network')

    def read(self, name: str, largest: int | None = None) -> bytes:
        """The bytes of a member, whose checksum was compared."""
        member = self.members.get(self.folder + name)
        if member is None:
            raise DataFormatError(self.path, self.folder + name, 'is not in the archive', _CUT)
        if largest is not None and member.file_size > largest:
            raise DataFormatError(self.path, member.filename, f'{member.file_size} bytes', f'expected {largest} at the most')
        try:
            return self.archive.read(member)
        except _BROKEN as error:
            raise DataFormatError(self.path, member.filename, str(error), _CUT) from None

    def read_pickle(self) -> bytes:
        return self.read('data.pkl', _LARGEST_PICKLE)

    def is_little_endian(self) -> bool:
        return self.folder + 'byteorder' not in self.members or self.read('byteorder', 16).strip() == b'little'

    def read_storage(self, key: str) -> bytes:
        return self.read(f'data/{key}')


@contextmanager
def open_archive(path: Path) -> Iterator[CheckpointArchive]:
    """Opens a checked archive.

    Raises:
        DataFormatError: see :class:`CheckpointArchive`.
    """
    try:
        archive = zipfile.ZipFile(path)
    except _BROKEN as error:
        raise DataFormatError(path, value=f'a damaged zip archive: {error}', hint=_CUT) from None
    with archive:
        yield CheckpointArchive(path, archive)
