"""The command lines that the documents show."""
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = [ROOT / 'README.md', ROOT / 'CONTRIBUTING.md']
DOCUMENTS += [file for folder in ('docs', 'configs') for file in sorted((ROOT / folder).rglob('*.md'))]
BLOCK = re.compile(r'^ *```(?:bash|shell|sh)\n(.*?)^ *```', re.MULTILINE | re.DOTALL)
QUOTED = re.compile(r'(?<!`)`([^`\n]+)`(?!`)')


def command_lines(document: Path, programs: str, quoted: bool = False) -> Iterator[list[str]]:
    """The words of every line in the blocks of shell, or, ``quoted``, between backticks, that begins with one of ``programs``."""
    text = document.read_text(encoding='utf-8')
    lines = QUOTED.findall(text) if quoted else '\n'.join(BLOCK.findall(text)).replace('\\\n', ' ').splitlines()
    for line in lines:
        if re.match(rf' *({programs})(?= )', line) and '...' not in line and '|' not in line:
            words = shlex.split(line, comments=True)
            yield words[:words.index('>')] if '>' in words else words
