"""What the doctor found."""
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from .finding import KINDS, Finding

_SHOWN = 10


@dataclass(frozen=True)
class Diagnosis:
    """The result of an examination.

    Attributes:
        path: what was examined.
        format: the name of the format, or ``'unknown'``.
        num_images: images, 0 where the set could not be opened.
        num_classes: identities, None where the set does not say.
        findings: all of them, errors first.
    """
    path: str
    format: str
    num_images: int
    num_classes: int | None
    findings: list[Finding]

    @property
    def trainable(self) -> bool:
        """Whether nothing was found with which training, or an evaluation, would fail."""
        return not any(finding.kind == 'error' for finding in self.findings)

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return dict(
            format=self.format, num_images=self.num_images, num_classes=self.num_classes,
            findings=[finding.to_dict() for finding in self.findings], trainable=self.trainable)

    def with_findings(self, further: Iterable[Finding]) -> 'Diagnosis':
        """The same with more findings, errors first."""
        return replace(self, findings=sorted([*self.findings, *further], key=lambda finding: KINDS.index(finding.kind)))

    def __str__(self) -> str:
        classes = '' if self.num_classes is None else f', {self.num_classes:,} classes'
        lines = [f'{self.path}: {self.format}, {self.num_images:,} images{classes}']
        groups: dict[tuple[str, str], list[Finding]] = {}
        for finding in self.findings:
            groups.setdefault((finding.kind, finding.check), []).append(finding)
        for (kind, check), findings in groups.items():
            more = [f'... and {len(findings) - _SHOWN} more'] if len(findings) > _SHOWN else []
            lines += [f'{kind:<5} {check:<11} {text}' for text in [*(finding.message for finding in findings[:_SHOWN]), *more]]
        totals = [sum(finding.kind == kind for finding in self.findings) for kind in KINDS]
        verdict = 'fit for use' if self.trainable else 'training or evaluation would fail'
        return '\n'.join([*lines, f'{verdict}: {totals[0]} errors, {totals[1]} warnings, {totals[2]} remarks'])
