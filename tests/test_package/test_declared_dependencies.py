"""Every module that is imported comes with a declared dependency."""
import ast
import re
import sys
from pathlib import Path

import pytest

DISTRIBUTION = {
    'PIL': 'pillow',
    'cv2': 'opencv-python',
    'faiss': 'faiss-cpu',
    'mmcv': 'mmcv-lite',
    'pytorch_metric_learning': 'pytorch-metric-learning',
    'sklearn': 'scikit-learn',
    'yaml': 'pyyaml',
}


def declared(root: Path, *names: str) -> set[str]:
    lines = [line for name in names for line in (root / f'requirements/{name}.txt').read_text().splitlines()]
    return {re.match(r'[\w.-]+', line).group().lower() for line in lines if re.match(r'\w', line)}


def imports(source: str, everywhere: bool) -> set[str]:
    """The distributions behind the absolute imports of ``source``: all of them, or those that run when it is imported."""
    found, todo = set(), [ast.parse(source)]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.Import):
            found |= {alias.name.partition('.')[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            found.add(node.module.partition('.')[0])
        runs = not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        if everywhere or (runs and not (isinstance(node, ast.If) and ast.unparse(node.test) == 'TYPE_CHECKING')):
            todo += ast.iter_child_nodes(node)
    return {DISTRIBUTION.get(name, name) for name in found - set(sys.stdlib_module_names)}


EXTRAS = ('faiss', 'lmdb', 'pyarrow', 'quality', 'web', 'webdataset')


@pytest.mark.parametrize(('folder', 'everywhere', 'requirements'), [
    ('mmface', False, ('runtime', 'lite')),
    ('mmface', True, ('runtime', 'lite', 'cpu', *EXTRAS)),
    ('tools', True, ('runtime', 'lite', 'cpu', 'benchmark', *EXTRAS)),
    ('tests', True, ('runtime', 'lite', 'cpu', 'tests', *EXTRAS)),
])
def test_what_is_imported_is_declared(root, folder, everywhere, requirements):
    known = declared(root, *requirements) | {'mmface', 'setuptools'} | {file.stem for file in (root / folder).rglob('*')}
    missing = {
        f'{file.relative_to(root)}: {name}'
        for file in (root / folder).rglob('*.py') for name in imports(file.read_text(encoding='utf-8'), everywhere) - known
    }
    assert sorted(missing) == []


def test_an_import_inside_a_function_or_for_types_does_not_run_on_import():
    source = ('import os\nimport cv2\ntry:\n    import yaml\nexcept ImportError:\n    pass\ndef f():\n    import onnxruntime\n'
              'if TYPE_CHECKING:\n    import lmdb\n')
    assert imports(source, everywhere=False) == {'opencv-python', 'pyyaml'}
    assert imports(source, everywhere=True) == {'opencv-python', 'pyyaml', 'onnxruntime', 'lmdb'}


def test_the_constraints_lie_inside_the_declared_ranges(root):
    packaging = pytest.importorskip('packaging.requirements')
    ranges = {}
    for name in ('runtime', 'lite', 'cpu', 'tests', *EXTRAS):
        for line in (root / f'requirements/{name}.txt').read_text().splitlines():
            requirement = packaging.Requirement(line)
            ranges[requirement.name] = requirement.specifier
    pins = [packaging.Requirement(line) for line in (root / 'requirements/constraints.txt').read_text().splitlines() if line[0] != '#']
    assert pins
    for pin in pins:
        version = str(pin.specifier).removeprefix('==')
        assert ranges.get(pin.name, pin.specifier).contains(version), pin
