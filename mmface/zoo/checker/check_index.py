"""Every fault of a model index."""
import ast
import re
from collections.abc import Callable, Iterator
from pathlib import Path

from ..download import sha256_of
from ..entry import PACKAGE, ModelEntry
from ..layouts import LAYOUTS
from ..manifest import Manifest
from ..model_index import ModelIndex
from .computed_fields import COMPUTED, computed_fields

_WEB = re.compile(r'https?://[^\s]+')


def check_index(index: ModelIndex, names: list[str] | None = None) -> list[str]:
    """Faults in words, each naming the model; empty where all is well.

    Args:
        index: the zoo.
        names: of the models to check. Default: all.
    """
    return [f'{name}: {fault}' for name in (names or sorted(index.entries)) for rule in RULES for fault in rule(index.entries[name])]


def _name(entry: ModelEntry) -> Iterator[str]:
    if entry.name != entry.name.lower():
        yield 'its name has capital letters, which mim cannot find'
    if entry.config is not None and Path(entry.config).stem != entry.name:
        yield f'its config is called {Path(entry.config).stem}'


def _licence(entry: ModelEntry) -> Iterator[str]:
    for part, terms in vars(entry.licence).items():
        if not isinstance(terms, str) or not terms.strip():
            yield f"the licence of the {part} is {terms!r}; say 'unknown' where nobody says"


def _paper(entry: ModelEntry) -> Iterator[str]:
    if not entry.paper.get('Title') or not _WEB.fullmatch(entry.paper.get('URL', '')):
        yield f'its collection has no Paper with Title and URL: {entry.paper}'


def _results(entry: ModelEntry) -> Iterator[str]:
    for result in entry.results:
        where = f'the result on {result.dataset!r}'
        if not result.protocol or not result.source:
            yield f'{where} has no protocol or no source: numbers mean nothing without'
        if not result.metrics or any(isinstance(value, bool) or not isinstance(value, int | float) for value in result.metrics.values()):
            yield f'{where} has metrics that are no numbers: {result.metrics}'
        if entry.origin is not None and not _WEB.match(result.source or ''):
            yield f"{where} is another project's: its source is a page of theirs"


def _weights(entry: ModelEntry) -> Iterator[str]:
    ways = [way for way in ('weights', 'page', 'rebuild') if getattr(entry, way)]
    if len(ways) > 1:
        yield f'has {" and ".join(ways)}: one way to the weights is enough'
    if entry.sha256 is not None and not re.fullmatch('[0-9a-f]{64}', str(entry.sha256)):
        yield f'SHA256 is {entry.sha256!r}, expected 64 hexadecimal digits'
    if entry.size is not None and not (isinstance(entry.size, int) and entry.size > 0):
        yield f'Size is {entry.size!r}, expected a number of bytes'
    if (entry.sha256 or entry.size or entry.mirrors) and not entry.weights:
        yield 'has SHA256, Size or Mirrors of no Weights'
    for url in (*entry.mirrors, *((entry.page, ) if entry.page else ())):
        if not _WEB.fullmatch(url):
            yield f'{url!r} is no address'
    if entry.shipped:
        yield from _shipped(entry)


def _shipped(entry: ModelEntry) -> Iterator[str]:
    path = PACKAGE / str(entry.weights)
    if not path.is_file():
        yield f'the package has no {entry.weights}'
        return
    if (entry.sha256, entry.size) != (sha256_of(path), path.stat().st_size):
        yield f'SHA256 and Size are not those of {entry.weights}: {sha256_of(path)}, {path.stat().st_size}'
    manifest = Manifest.read(path.with_suffix('.json'))
    if manifest.licence != vars(entry.licence):
        yield f'the licence of its manifest is {manifest.licence}'


def _whose(entry: ModelEntry) -> Iterator[str]:
    if (entry.origin is None) != (entry.converter is None):
        yield 'Origin and Converter go together: a model of others is converted, and one of ours is not'
    if entry.origin is not None and not _WEB.fullmatch(entry.origin.url):
        yield f'its origin {entry.origin.url!r} is no address'
    if entry.converter is not None and entry.converter not in LAYOUTS:
        yield f'Converter {entry.converter!r} is none of {", ".join(LAYOUTS)}'
    if entry.config is None and entry.converter is None:
        yield 'has neither Config nor Converter'


def _card(entry: ModelEntry) -> Iterator[str]:
    if not (entry.shipped or entry.rebuild or entry.card):
        return
    path = entry.card_path
    if path is None or not path.is_file():
        yield f'its model card {path or ""} is not there'
        return
    text = path.read_text(encoding='utf-8')
    for heading in ('## Training', '## Results', '## Intended uses', '## Excluded uses', '## Limits'):
        if heading not in text:
            yield f'its model card has no {heading!r}'
    for needed in ('rror rates by group', 'licence of the data', 'hash of the data', 'seed'):
        if needed not in text:
            yield f'its model card does not say: {needed}'
    if entry.sha256 and entry.sha256 not in text:
        yield 'its model card names other weights (SHA-256)'


def _config(entry: ModelEntry) -> Iterator[str]:
    if entry.config_path is None:
        return
    if not entry.config_path.is_file():
        yield f'there is no {entry.config}'
        return
    header = (ast.get_docstring(ast.parse(entry.config_path.read_text(encoding='utf-8'))) or '').lower()
    for word in ('paper', 'command', 'expected'):
        if word not in header:
            yield f'the docstring of its config says no {word!r}'
    try:
        found = computed_fields(entry.config_path)
    except Exception as error:  # noqa: BLE001  a config that does not build raises anything
        yield f'its config does not build: {error}'
        return
    for name in COMPUTED:
        if entry.metadata.get(name) != found.get(name):
            yield f'{name} is {entry.metadata.get(name)}, its config gives {found.get(name)} (check_zoo.py --write fills it in)'


RULES: tuple[Callable[[ModelEntry], Iterator[str]], ...] = (_name, _licence, _paper, _results, _weights, _whose, _card, _config)
