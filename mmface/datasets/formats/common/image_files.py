"""What readers of images that are plain files share."""
import os
import warnings
from collections.abc import Sequence
from pathlib import Path

from ..errors import AbsentImagesWarning, DataFormatError

_SHOWN = 5


class ImageFiles:
    """M image files under one folder, which may be absent as long as only the lists matter.

    Attributes:
        path: the folder.
        files: M paths relative to it.

    Raises:
        DataFormatError: for a file outside the folder.
    """

    def __init__(self, path: Path, files: Sequence[str]) -> None:
        for file in files:
            if ('..' in file and '..' in file.replace('\\', '/').split('/')) or file.startswith(('/', '\\')):
                raise DataFormatError(path, value=f'image {file!r}', hint='expected a path inside the folder')
        self.path, self.files = path, files

    def __len__(self) -> int:
        return len(self.files)

    def read(self, index: int) -> bytes:
        """The encoded image ``index``, from 0.

        Raises:
            DataFormatError: where there is no such file.
        """
        try:
            return (self.path / self.files[index]).read_bytes()
        except FileNotFoundError:
            raise DataFormatError(self.path, self.files[index], 'no such image', 'say where they are with images=') from None

    def where(self, index: int) -> str:
        """The file of image ``index``, relative to the folder."""
        return self.files[index]

    def require(self, found: bool) -> None:
        """Checks that the images are there, or warns where no folder of images was given or found."""
        if found:
            self.check_presence()
            return
        hint = 'say where they are with images=, or that none are needed with lists_only='
        warnings.warn(AbsentImagesWarning(self.path, value=f'none of the {len(self)} images is beside the list', hint=hint), stacklevel=3)

    def check_presence(self) -> None:
        """Checks that every file is there: one listing a directory, not one question a file.

        Raises:
            DataFormatError: with the number of those that are missing, and the first few.
        """
        listed: dict[str, set[str]] = {}
        missing = []
        for file in self.files:
            folder, name = os.path.split(file)
            if folder not in listed:
                whole = self.path / folder
                listed[folder] = set(os.listdir(whole)) if whole.is_dir() else set()
            if name not in listed[folder]:
                missing.append(file)
        if missing:
            raise DataFormatError(self.path, value=f'{len(missing)} of {len(self.files)} images are missing',
                                  hint=', '.join(missing[:_SHOWN]) + ' ...' * (len(missing) > _SHOWN))
