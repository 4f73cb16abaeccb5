"""What keeps a file from being a network of some layout, key by key."""
from dataclasses import dataclass, field

_SHOWN = 40


@dataclass(frozen=True)
class Difference:
    """False where there is none.

    Args:
        project: whose layout the file was compared with.
        missing: keys that the network has and the file has not.
        unexpected: keys that the file has and the network has not.
        shapes: key -> (shape in the file, shape in the network), where they differ.
    """
    project: str
    missing: list[str]
    unexpected: list[str]
    shapes: dict[str, tuple[tuple[int, ...], tuple[int, ...]]] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.missing or self.unexpected or self.shapes)

    def __str__(self) -> str:
        counts = f'{len(self.missing)} keys missing, {len(self.unexpected)} unexpected, {len(self.shapes)} of another shape'
        lines = [f'compared with {self.project}: {counts}']
        lines += _first([f'- {key}' for key in self.missing])
        lines += _first([f'+ {key}' for key in self.unexpected])
        lines += _first([f'! {key}: {list(found)} in the file, {list(expected)} in the network'
                         for key, (found, expected) in sorted(self.shapes.items())])  # yapf: disable
        return '\n'.join(lines)


def _first(lines: list[str]) -> list[str]:
    return lines[:_SHOWN] + ([f'  and {len(lines) - _SHOWN} more'] if len(lines) > _SHOWN else [])
