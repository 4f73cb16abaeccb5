"""One thing that the doctor has to say."""
from dataclasses import asdict, dataclass
from typing import Any

from ..formats.errors import AbsentImagesWarning, DataFormatError, DataFormatWarning

KINDS = ('error', 'warn', 'info')
_KIND_OF: dict[type, str] = {DataFormatWarning: 'warn', AbsentImagesWarning: 'info'}


@dataclass(frozen=True)
class Finding:
    """A fault, a doubt or a fact about a data set.

    Attributes:
        kind: ``'error'``, with which training or evaluation would fail; ``'warn'``, worth a look; ``'info'``.
        check: which check says so; docs/dataset_doctor.md explains each.
        path: the file or folder.
        where: the place in it: ``'record 12'``, ``'line 3'``.
        value: what was found there.
        hint: what was expected, and what to do about it.
    """
    kind: str
    check: str
    path: str
    where: str = ''
    value: str = ''
    hint: str = ''

    @classmethod
    def of(cls, report: DataFormatError | DataFormatWarning, check: str) -> 'Finding':
        """What a reader says, as a finding."""
        kind = _KIND_OF.get(type(report), 'error')
        return cls(kind, check, report.path, report.where, report.value, report.hint)

    @property
    def message(self) -> str:
        """All of it in one line."""
        return ': '.join(part for part in (self.path, self.where, self.value, self.hint) if part)

    def to_dict(self) -> dict[str, Any]:
        """Strings only, for JSON."""
        return {**asdict(self), 'message': self.message}
