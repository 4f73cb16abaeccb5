"""Arrow streams, as ``save_to_disk`` of Hugging Face's ``datasets`` writes them."""
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import DataFormatError
from .arrow_table import ArrowTable

if TYPE_CHECKING:
    import pyarrow as pa

_END = b'\xff\xff\xff\xff\0\0\0\0'
_COPY = 'the file is cut short or damaged: copy it again'


class ArrowStreams(ArrowTable):
    """Memory-mapped Arrow IPC streams. Images are slices of the files, without a copy; nothing is shared that a fork could break."""

    def _open(self) -> None:
        import pyarrow as pa
        tables = []
        for file in self.files:
            table = _read(file)
            self._use_schema(file, table.schema)
            tables.append(table)
            self._add_file([len(chunk) for chunk in table.column(0).chunks])
        self._table = pa.concat_tables(tables)
        self._images = [self._encoded(chunk) for chunk in self._table.column(self.image).chunks]

    def _piece(self, at: int) -> 'pa.Array':
        return self._images[at]

    def column(self, name: str) -> 'pa.ChunkedArray':
        return self._table.column(name)


def _read(file: Path) -> 'pa.Table':
    """The table of a file, its offsets checked: pyarrow itself would follow false ones out of the file."""
    import pyarrow as pa
    if not file.is_file():
        raise DataFormatError(file, value='no such file', hint='state.json lists it')
    batches: list[pa.RecordBatch] = []
    try:
        source = pa.memory_map(str(file))
        with pa.ipc.open_stream(source) as reader:
            for batch in reader:
                batch.validate(full=True)
                batches.append(batch)
            table = pa.Table.from_batches(batches, reader.schema)
    except (pa.ArrowException, OSError) as error:
        raise DataFormatError(file, f'record batch {len(batches)}', str(error), _COPY) from None
    if bytes(source.read_at(len(_END), max(source.size() - len(_END), 0))) != _END:
        raise DataFormatError(file, f'record batch {len(batches)}', 'no end-of-stream mark', _COPY)
    return table
