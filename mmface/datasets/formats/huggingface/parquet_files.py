"""Parquet files, as ``push_to_hub`` and ``to_parquet`` of Hugging Face's ``datasets`` write them."""
import warnings
from functools import lru_cache
from typing import TYPE_CHECKING

from ..errors import DataFormatError, DataFormatWarning
from .arrow_table import ArrowTable

if TYPE_CHECKING:
    import pyarrow as pa

_COPY = 'the file is cut short or damaged: copy it again'
_LARGE = 64 << 20


class ParquetFiles(ArrowTable):
    """Parquet. A row group is decoded whole to get at one image, and the last ones are kept: fast from front to back.

    In random order every image costs a row group. Sets written by ``datasets`` have 100 images in each, which is bearable; one of
    64 MiB or more is warned of. For training, convert.
    """

    def _open(self) -> None:
        import pyarrow as pa
        from pyarrow import parquet
        self._readers: list[parquet.ParquetFile] = []
        self._groups: list[tuple[int, int]] = []  # file and row group of every piece
        for at, file in enumerate(self.files):
            try:
                reader = parquet.ParquetFile(file, memory_map=True)
            except (pa.ArrowException, OSError) as error:
                raise DataFormatError(file, value=str(error), hint=_COPY) from None
            self._use_schema(file, reader.schema_arrow)
            groups = [reader.metadata.row_group(group) for group in range(reader.num_row_groups)]
            self._add_file([group.num_rows for group in groups])
            self._readers.append(reader)
            self._groups += [(at, group) for group in range(len(groups))]
            largest = max((group.total_byte_size for group in groups), default=0)
            if largest >= _LARGE:
                warnings.warn(
                    DataFormatWarning(file, value=f'a row group of {largest >> 20} MiB', hint='an image in random order costs a whole one: '
                                      'convert the set for training'), stacklevel=2)
        self._decoded = lru_cache(maxsize=2)(self._decode)

    def _piece(self, at: int) -> 'pa.Array':
        return self._decoded(at)

    def _decode(self, at: int) -> 'pa.Array':
        import pyarrow as pa
        file, group = self._groups[at]
        try:
            # No threads: they would not survive a fork.
            table = self._readers[file].read_row_group(group, columns=[self.image], use_threads=False)
        except (pa.ArrowException, OSError) as error:
            raise DataFormatError(self.files[file], f'row group {group}', str(error), _COPY) from None
        return self._encoded(table.column(0).combine_chunks())

    def column(self, name: str) -> 'pa.ChunkedArray':
        import pyarrow as pa
        try:
            return pa.concat_tables(reader.read(columns=[name], use_threads=False) for reader in self._readers).column(name)
        except (pa.ArrowException, OSError) as error:
            raise DataFormatError(self.path, f'column {name}', str(error), _COPY) from None
