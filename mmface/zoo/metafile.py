"""Metafiles in OpenMMLab's form; docs/model_zoo.md has the schema."""
from pathlib import Path
from typing import Any

from mmface.utils.read_yaml import read_yaml

from .entry import LicenceTerms, ModelEntry, Origin, Result
from .metafile_error import MetafileError

FIELDS = {  # of a model in a metafile -> the attribute
    'Name': 'name', 'In Collection': 'collection', 'Config': 'config', 'Metadata': 'metadata', 'Results': 'results', 'Licence': 'licence',
    'Paper': 'paper', 'Weights': 'weights', 'Mirrors': 'mirrors', 'SHA256': 'sha256', 'Size': 'size', 'Page': 'page', 'Rebuild': 'rebuild',
    'Origin': 'origin', 'Converter': 'converter', 'Card': 'card',
}  # yapf: disable


def parse_entry(record: dict, collection: dict, root: Path, where: str) -> ModelEntry:
    """One item of ``Models`` in a metafile.

    What its collection says of ``Metadata``, ``Paper``, ``Licence`` and ``Origin`` holds unless it says otherwise.

    Args:
        record: the item.
        collection: that of its ``In Collection``.
        root: the folder that relative paths are of.
        where: the file and the item, for messages.

    Raises:
        MetafileError: a field that is missing, unknown or of another kind than it should be.
    """
    unknown = sorted(record.keys() - FIELDS.keys())
    if unknown:
        raise MetafileError(where, f'unknown field {unknown[0]!r}', f'the fields are {", ".join(FIELDS)}')
    record = {name: collection[name] for name in ('Paper', 'Licence', 'Origin') if name in collection} | record
    for name in ('Name', 'In Collection', 'Licence'):
        if not record.get(name):
            raise MetafileError(where, f'no {name!r}', 'docs/model_zoo.md has the schema')
    values: dict[str, Any] = {attribute: record[name] for name, attribute in FIELDS.items() if record.get(name) is not None}
    values['metadata'] = dict(collection.get('Metadata') or {}) | dict(record.get('Metadata') or {})
    values['results'] = tuple(_part(Result, item, f'{where}, Results[{at}]') for at, item in enumerate(record.get('Results') or ()))
    values['licence'] = _part(LicenceTerms, record['Licence'], f'{where}, Licence')
    values['mirrors'] = tuple(record.get('Mirrors') or ())
    if 'origin' in values:
        values['origin'] = _part(Origin, record['Origin'], f'{where}, Origin')
    return ModelEntry(root=root, **{'config': None, **values})


def _part(kind: type, record: object, where: str) -> Any:
    """A dataclass from a mapping whose keys are its attributes' names, in any case."""
    try:
        return kind(**{key.lower(): value for key, value in dict(record).items()})  # type: ignore[call-overload]
    except (TypeError, ValueError, AttributeError) as error:
        raise MetafileError(where, f'{record!r} does not fit: {error}', 'docs/model_zoo.md has the schema') from error


def read_metafile(path: Path, root: Path) -> list[ModelEntry]:
    """The models of a ``metafile.yml``.

    Args:
        path: the file.
        root: the folder that relative paths in it are of.

    Raises:
        FileNotFoundError, MetafileError: see :class:`ModelIndex`.
    """
    content = read_mapping(path)
    collections = {collection['Name']: collection for collection in content.get('Collections') or ()}
    entries = []
    for record in content.get('Models') or ():
        where = f'{path}, {record.get("Name", "a model without a name")}'
        if record.get('In Collection') not in collections:
            raise MetafileError(where, f'no collection {record.get("In Collection")!r}', f'there is {", ".join(collections)}')
        entries.append(parse_entry(record, collections[record['In Collection']], root, where))
    return entries


def read_mapping(path: Path) -> dict[str, Any]:
    """A YAML file whose content is a mapping.

    Raises:
        FileNotFoundError, MetafileError: see :class:`ModelIndex`.
    """
    if not path.is_file():
        raise FileNotFoundError(f'{path}: there is no such file')
    try:
        content = read_yaml(path)
    except Exception as error:  # the parser has its own class of errors
        raise MetafileError(path, f'not YAML: {error}', 'docs/model_zoo.md has the schema') from error
    if not isinstance(content, dict):
        raise MetafileError(path, f'holds a {type(content).__name__}', 'a mapping is expected')
    return content
