"""How Sphinx makes the site: ``make docs``. The pages of the API are written from the packages' ``__all__`` each time."""
import importlib
import re
import sys
from contextlib import suppress
from operator import attrgetter
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from mmface.version import __version__  # noqa: E402

project = 'mmface'
author = copyright = 'The mmface contributors'  # noqa: A001  (Sphinx's name)
version = release = __version__

extensions = ['myst_parser', 'sphinx.ext.autodoc', 'sphinx.ext.autosummary', 'sphinx.ext.napoleon']
exclude_patterns = ['_build']
templates_path = ['_templates']
html_theme = 'furo'
html_title = f'mmface {__version__}'
myst_heading_anchors = 4
napoleon_use_rtype = False
napoleon_use_ivar = True
autodoc_typehints = 'none'  # shapes, units and ranges stand in the docstrings; types in the signatures of the source
autodoc_member_order = 'bysource'
autodoc_default_options = {'members': True, 'show-inheritance': True}
autosummary_ignore_module_all = False

# No inventory of another project is fetched, so that the site builds without a network: names of theirs are not links.
nitpicky = True
nitpick_ignore_regex = [(r'py:.*', r'(?!mmface).*')]

PACKAGES = {
    'mmface': 'the two names at the top',
    'mmface.apis': 'what a program calls',
    'mmface.zoo': 'the model zoo',
    'mmface.models': 'recognizers and their parts',
    'mmface.datasets': 'readers, transforms, samplers',
    'mmface.evaluation': 'protocols and metrics',
    'mmface.export': 'from a recognizer to a checked file',
    'mmface.runtime': 'loops, hooks and optimiser wrappers',
    'mmface.structures': 'the objects that cross package borders',
    'mmface.visualization': 'plots and the HTML report',
    'mmface.registry': 'registries',
}


def write_api(folder: Path) -> None:
    """A page a package with a table of its public names, each of which gets a page of its own from autosummary."""
    folder.mkdir(exist_ok=True)
    for package in PACKAGES:
        names = [name for name in importlib.import_module(package).__all__ if not name.startswith('__')]
        lines = [
            package, '=' * len(package), '', f'.. automodule:: {package}', '   :no-members:', '', f'.. currentmodule:: {package}', '',
            '.. autosummary::', '   :toctree: names', '', *(f'   {name}' for name in sorted(names, key=str.lower)), ''
        ]
        (folder / f'{package}.rst').write_text('\n'.join(lines), encoding='utf-8')
    rows = [f'   {package}' for package in PACKAGES]
    (folder / 'index.rst').write_text('\n'.join(['API', '===', '', '.. toctree::', '   :maxdepth: 1', '', *rows, '']), encoding='utf-8')


def name_the_keys(_app: Any, _what: str, _name: str, value: Any, _options: Any, lines: list[str]) -> None:
    """A table of choices is described by what there is to choose from, in place of the docstring of ``dict``."""
    if isinstance(value, dict):
        lines[:] = [', '.join(f'``{key}``' for key in value)]


def leave_internals_unlinked(_app: Any, _env: Any, node: Any, text: Any) -> Any:
    """A reference to what exists but has no page, such as a base class, is text; one to nothing stays an error."""
    module, name = node.get('reftarget', ''), ''
    while module.startswith('mmface'):
        with suppress(ImportError, AttributeError):
            attrgetter(name)(importlib.import_module(module)) if name else importlib.import_module(module)
            return text
        module, _, last = module.rpartition('.')
        name = f'{last}.{name}' if name else last
    return None


def link_to_files(_app: Any, document: str, source: list[str]) -> None:
    """Documents outside this folder are files to the site, not pages of it."""
    folder = (HERE / document).parent

    def link(found: re.Match) -> str:
        outside = not (folder / found[1]).resolve().is_relative_to(HERE)
        return f'](path:{found[1]})' if outside else found[0]

    source[0] = re.sub(r'\]\((\.\./[^)#\s]+\.md)(?:#[^)]*)?\)', link, source[0])


def setup(app: Any) -> None:
    """Called by Sphinx."""
    app.connect('autodoc-process-docstring', name_the_keys)
    app.connect('missing-reference', leave_internals_unlinked)
    app.connect('source-read', link_to_files)


write_api(HERE / 'api')
