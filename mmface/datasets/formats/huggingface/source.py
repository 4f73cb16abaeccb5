"""Where Hugging Face's ``datasets`` puts the files of a set: shared by the reader of training and the reader of evaluation sets."""
import json
import re
from importlib.util import find_spec
from pathlib import Path

from ..errors import DataFormatError
from .arrow_streams import ArrowStreams
from .arrow_table import ArrowTable
from .parquet_files import ParquetFiles

METADATA = 'metadata.pt'
_SHARD = re.compile(r'(.+)-([0-9]{5})-of-([0-9]{5})\.(arrow|parquet)')


def open_table(path: Path, image: str = 'image') -> ArrowTable:
    """Opens a ``save_to_disk`` folder, a folder of Parquet files, or one file of either.

    Raises:
        DataFormatError: where a file is missing or damaged, and for a folder of several splits, whose names it says.
    """
    files = _files(path)
    return (ParquetFiles if files[0].suffix == '.parquet' else ArrowStreams)(path, files, image)


def is_table(path: Path) -> bool:
    """Whether ``path`` looks like something that :func:`open_table` opens."""
    if path.is_file():
        return path.suffix in ('.arrow', '.parquet')
    return (path / 'state.json').is_file() or (path / 'dataset_dict.json').is_file() or bool(_data_files(path))


def is_evaluation_set(path: Path) -> bool:
    """Whether a table is CVLface's kind of evaluation set: pairs by ``is_same``, or ``metadata.pt`` beside the files."""
    return (path.is_dir() and (path / METADATA).is_file()) or 'is_same' in _column_names(path)


def _files(path: Path) -> list[Path]:
    if path.is_file():
        return [path]
    if (path / 'dataset_dict.json').is_file():
        splits = [folder.name for folder in sorted(path.iterdir()) if (folder / 'state.json').is_file()]
        raise DataFormatError(path, value=f'{len(splits)} splits', hint=f'name one of the folders in it: {", ".join(splits)}')
    if (path / 'state.json').is_file():
        return [path / name for name in _listed(path / 'state.json')]
    files = _data_files(path)
    _check_shards(path, files)
    return files


def _data_files(folder: Path) -> list[Path]:
    """The Arrow or else the Parquet files of a folder."""
    return sorted(folder.glob('data-*.arrow')) or sorted(folder.glob('*.parquet'))


def _listed(state: Path) -> list[str]:
    try:
        names = [entry['filename'] for entry in json.loads(state.read_bytes())['_data_files']]
    except (KeyError, TypeError, ValueError) as error:
        raise DataFormatError(state, value=repr(error), hint='expected the list _data_files, as save_to_disk writes it') from None
    for name in names:
        if not isinstance(name, str) or Path(name).name != name:
            raise DataFormatError(state, '_data_files', repr(name), 'expected the name of a file beside it')
    if not names:
        raise DataFormatError(state, '_data_files', 'no file', 'expected at least one')
    return names


def _check_shards(path: Path, files: list[Path]) -> None:
    """Files called ``NAME-00000-of-00003`` must be all of one name."""
    shards = [match for file in files if (match := _SHARD.fullmatch(file.name))]
    names = sorted({shard[1] for shard in shards})
    if len(names) > 1:
        raise DataFormatError(path, value=f'{len(names)} splits: {", ".join(names)}', hint='put one of them into a folder of its own')
    found = {int(shard[2]) for shard in shards}
    missing = sorted(set(range(int(shards[0][3]))) - found) if shards else []
    if missing:
        raise DataFormatError(path, value=f'{len(missing)} of {shards[0][3]} files missing', hint=f'the first is number {missing[0]:05d}')


def _column_names(path: Path) -> list[str]:
    """The columns, as far as they are easily known; for telling sets apart."""
    try:
        if path.is_dir() and (path / 'dataset_info.json').is_file():
            return list(json.loads((path / 'dataset_info.json').read_bytes())['features'])
        if find_spec('pyarrow') is not None:
            return open_table(path).schema.names
    except (DataFormatError, KeyError, TypeError, ValueError):
        pass
    return []
