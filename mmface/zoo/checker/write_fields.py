"""Computed fields into a metafile, line by line: comments and order stay."""
import re
from pathlib import Path

from mmface.utils.atomic_file import atomic_file

from ..metafile import read_mapping
from ..metafile_error import MetafileError
from .computed_fields import COMPUTED, computed_fields


def write_fields(metafile: Path, root: Path) -> list[str]:
    """Fills in what follows from the configs; returns the names of the models that changed.

    Raises:
        MetafileError: a model whose ``Metadata`` stand in one line, in braces.
        ValueError, FileNotFoundError: see :func:`~mmface.zoo.checker.computed_fields.computed_fields`.
    """
    text = metafile.read_text(encoding='utf-8')
    changed = []
    for record in read_mapping(metafile).get('Models') or ():
        if 'Config' not in record:
            continue
        found = computed_fields(root / record['Config'])
        new = _fill(text, record['Name'], found, metafile)
        if new != text:
            changed.append(record['Name'])
        text = new
    if changed:
        with atomic_file(metafile) as file:
            file.write(text.encode())
    return changed


def _fill(text: str, name: str, found: dict[str, int], metafile: Path) -> str:
    block = re.search(rf'(?ms)^- Name: {re.escape(name)}\n.*?(?=^- Name:|\Z)', text)
    if block is None:
        raise MetafileError(metafile, f'no line "- Name: {name}"', 'each model begins with its name')
    lines = block[0].splitlines()
    if '  Metadata:' not in lines:
        if any(line.startswith('  Metadata:') for line in lines):
            raise MetafileError(f'{metafile}, {name}', 'its Metadata stand in one line', 'write them one below the other')
        at = next(number for number, line in enumerate(lines) if line.startswith('  Config:'))
        lines.insert(at + 1, '  Metadata:')
    start = lines.index('  Metadata:') + 1
    end = next((number for number in range(start, len(lines)) if not lines[number].startswith('    ')), len(lines))
    kept = [line for line in lines[start:end] if line.strip().partition(':')[0] not in COMPUTED]
    lines[start:end] = [*kept, *(f'    {key}: {found[key]}' for key in COMPUTED if key in found)]
    return text[:block.start()] + '\n'.join(lines) + '\n' + text[block.end():]
