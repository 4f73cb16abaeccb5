"""``classes.tsv`` beside a training set whose format has only numbers: label TAB name, and perhaps more."""
import warnings
from pathlib import Path

from ..errors import DataFormatError, DataFormatWarning

FILE = 'classes.tsv'


def write_class_names(folder: Path, classes: dict[str, int]) -> None:
    """Writes the names in the order of their labels.

    Raises:
        DataFormatError: for a name that would not stay on its line.
    """
    for name in classes:
        if set(name) & set('\t\r\n'):
            raise DataFormatError(folder / FILE, value=f'class {name!r}', hint='rename it: a tab or line end breaks the list')
    lines = [f'{label}\t{name}\n' for name, label in sorted(classes.items(), key=lambda item: item[1])]
    (folder / FILE).write_text(''.join(lines), encoding='utf-8', errors='surrogateescape')


def read_class_names(folder: Path, num_classes: int) -> dict[str, int] | None:
    """Name -> label, or None where there is no such file; one that does not fit is left aside with a warning."""
    path = folder / FILE
    if not path.is_file():
        return None
    classes: dict[str, int] = {}
    for number, line in enumerate(path.read_text(encoding='utf-8', errors='surrogateescape').splitlines(), 1):
        label, _, rest = line.partition('\t')
        name = rest.partition('\t')[0]
        if not (label.isdecimal() and int(label) < num_classes and name and name not in classes):
            warnings.warn(DataFormatWarning(path, f'line {number}', repr(line[:80]), 'expected "label TAB name"; the file is not used'),
                          stacklevel=2)
            return None
        classes[name] = int(label)
    return classes
