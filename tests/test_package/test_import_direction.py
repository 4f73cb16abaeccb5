"""Which part of mmface may import which, read off the sources."""
import ast
from pathlib import Path

import pytest

FLOOR = {'functional', 'structures', 'registry', 'utils', 'version'}
MAY_IMPORT = {
    'functional': set(),
    'structures': set(),
    'registry': set(),
    'utils': set(),
    'version': set(),
    '__init__': {'utils', 'version', 'apis'},  # apis when get_model is first asked for
    'datasets': FLOOR,
    'models': FLOOR,
    'evaluation': FLOOR,
    'visualization': {'functional', 'structures', 'version'},
    'runtime': FLOOR | {'models'},
    'export': FLOOR | {'models'},
    'zoo': FLOOR | {'models'},
    'apis': FLOOR | {'datasets', 'models', 'evaluation', 'visualization', 'runtime', 'export', 'zoo'},
    '__main__': {'commands'},
    'commands': FLOOR | {'datasets', 'evaluation', 'visualization', 'export', 'zoo', 'apis'},
}


def imported_parts(source: str, module: str, is_package: bool) -> set[str]:
    """The parts of mmface (``models`` of ``mmface.models.heads``) that the source of ``module`` imports, anywhere in it."""
    package = module.split('.') if is_package else module.split('.')[:-1]
    names = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = package[:len(package) - node.level + 1] if node.level else []
            stem = '.'.join([*base, *([node.module] if node.module else [])])
            names |= {f'{stem}.{alias.name}' for alias in node.names}
    return {name.split('.')[1] for name in names if name.startswith('mmface.')} - {'__version__'}


def violations(folder: Path) -> list[str]:
    found = []
    for file in sorted((folder / 'mmface').rglob('*.py')):
        if '.mim' in file.parts:
            continue
        module = '.'.join(file.relative_to(folder).with_suffix('').parts).removesuffix('.__init__')
        part = (module + '.__init__').split('.')[1]
        wrong = imported_parts(file.read_text(encoding='utf-8'), module, file.name == '__init__.py') - MAY_IMPORT[part] - {part}
        found += [f'{file.relative_to(folder)} imports mmface.{name}' for name in sorted(wrong)]
    return found


def test_no_module_imports_against_the_direction(root):
    assert violations(root) == []


@pytest.mark.parametrize('statement', [
    'import mmface.models.heads', 'from mmface.models import heads', 'from mmface import models', 'from ..models.heads import Head',
    'from .. import models', 'def late():\n    from ..models import heads'
])
def test_each_spelling_of_a_wrong_import_is_seen(tmp_path, statement):
    (tmp_path / 'mmface/datasets').mkdir(parents=True)
    (tmp_path / 'mmface/datasets/reader.py').write_text(statement)
    assert violations(tmp_path) == ['mmface/datasets/reader.py imports mmface.models']


def test_imports_within_a_part_and_downwards_are_fine(tmp_path):
    (tmp_path / 'mmface/datasets/formats').mkdir(parents=True)
    (tmp_path / 'mmface/datasets/__init__.py').write_text('from .formats import a\nfrom ..registry import DATASETS\nimport torch.nn\n')
    (tmp_path / 'mmface/datasets/formats/a.py').write_text('from ..formats import b\nfrom ...structures import PairSet\n')
    assert violations(tmp_path) == []
