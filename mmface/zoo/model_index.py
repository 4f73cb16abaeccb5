"""The zoo as the checkout or the installed package has it."""
import difflib
import fnmatch
from functools import cache
from pathlib import Path

from .entry import PACKAGE, ModelEntry
from .metafile import read_mapping, read_metafile
from .metafile_error import MetafileError


class ModelIndex:
    """All models by name, read from a ``model-index.yml`` and the metafiles that it imports.

    Args:
        path: the ``model-index.yml``; paths in it and in its metafiles are relative to its folder.

    Raises:
        FileNotFoundError: no such file, or a metafile that it imports is missing.
        MetafileError: a file that is not in the form of docs/model_zoo.md.
    """

    def __init__(self, path: Path) -> None:
        self.path, self.root = Path(path), Path(path).parent
        self.entries: dict[str, ModelEntry] = {}
        for name in read_mapping(self.path).get('Import', ()):
            for entry in read_metafile(self.root / name, self.root):
                if entry.name in self.entries:
                    raise MetafileError(name, f'the name {entry.name!r} is taken', 'names are unique in the whole zoo')
                self.entries[entry.name] = entry

    def find(self, name: str) -> ModelEntry:
        """The model of a name.

        Raises:
            ValueError: there is none; the nearest names are suggested.
        """
        if name not in self.entries:
            near = difflib.get_close_matches(name, self.entries, n=3, cutoff=.5)
            hint = f'did you mean {" or ".join(near)}?' if near else '"mmface models list" or mmface.list_models() lists them'
            raise ValueError(f'the zoo has no model {name!r}: {hint}')
        return self.entries[name]

    def __contains__(self, name: object) -> bool:
        return name in self.entries

    def names(self, pattern: str | None = None, task: str | None = None) -> list[str]:
        """Names in alphabetical order.

        Args:
            pattern: with ``*``, ``?`` or ``[...]`` the whole name has to match, otherwise a part of it; case does not matter.
            task: only models with a result of this task, such as ``'Face Verification'``; case does not matter.
        """
        wanted = f'*{pattern or ""}*' if not set('*?[') & set(pattern or '') else str(pattern)
        return sorted(name for name, entry in self.entries.items() if fnmatch.fnmatch(name.lower(), wanted.lower()) and (
            task is None or task.lower() in (own.lower() for own in entry.tasks)))


@cache
def model_index() -> ModelIndex:
    """The index of this package: in ``mmface/.mim`` where it was installed, else of the checkout around it.

    Raises:
        FileNotFoundError: a package without either.
        MetafileError: see :class:`ModelIndex`.
    """
    for folder in (PACKAGE / '.mim', PACKAGE.parent):
        if (folder / 'model-index.yml').is_file():
            return ModelIndex(folder / 'model-index.yml')
    raise FileNotFoundError(f'{PACKAGE}: neither .mim/model-index.yml nor one in the folder above: the package is not complete')
