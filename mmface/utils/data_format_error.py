"""How every reader says that something on disk is wrong."""


class FaultInFile(Exception):
    """A fault in a file: ``{path}: {where}: {value}: {hint}``, empty parts left out.

    Args:
        path: the file or folder.
        where: the place in it: ``'record 12'``, ``'line 3'``, ``'offset 2032'``.
        value: what was found there, with its name: ``'label 2.5'``.
        hint: what was expected, and what to do about it.

    Only ``path`` is required, because a DataLoader rebuilds the exception of a worker from its text alone.
    """

    def __init__(self, path: object, where: str = '', value: str = '', hint: str = '') -> None:
        super().__init__(path, where, value, hint)
        self.path, self.where, self.value, self.hint = str(path), where, value, hint

    def __str__(self) -> str:
        return ': '.join(part for part in (self.path, self.where, self.value, self.hint) if part)


class DataFormatError(FaultInFile, ValueError):
    """The data cannot be used as they are."""
