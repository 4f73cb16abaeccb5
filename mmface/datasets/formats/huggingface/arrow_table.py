"""What the two files of Hugging Face's ``datasets`` have in common: rows with an image each, in pyarrow's types."""
import json
from bisect import bisect_right
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mmface.utils.dependency import require_extra

from ..errors import DataFormatError

if TYPE_CHECKING:
    import pyarrow as pa

_ENCODED = 'expected struct<bytes: binary, path: string>, as an Image feature is stored, or binary'


class ArrowTable:
    """The rows of one or several files with the same columns. A subclass opens the files and hands out the images piece by piece.

    Attributes:
        path: what was opened.
        files: the files, in the order of the rows.
        schema: their columns, as pyarrow has it.

    Args:
        path: for messages.
        files: at least one.
        image: the column of encoded images.

    Raises:
        DataFormatError: naming the file that is no whole table, or the column that is missing or of another type.
        ImportError: without pyarrow, naming the extra.
    """
    schema: 'pa.Schema'

    def __init__(self, path: Path, files: list[Path], image: str = 'image') -> None:
        require_extra('pyarrow', f'{path.name} in Arrow or Parquet')
        self.path, self.files, self.image = path, files, image
        self._starts: list[int] = []  # the first row of every piece
        self._first_rows: list[int] = []  # ... of every file
        self._rows = 0
        self._open()
        if not self._rows:
            raise DataFormatError(path, value='no row', hint='expected an image a row')

    def _open(self) -> None:
        """Calls ``_use_schema`` for every file, then ``_add_file`` with the rows of its pieces."""
        raise NotImplementedError

    def _piece(self, at: int) -> 'pa.Array':
        """The images of piece ``at``: binary, null where a row has none."""
        raise NotImplementedError

    def column(self, name: str) -> 'pa.ChunkedArray':
        """A column other than the images, whole."""
        raise NotImplementedError

    def numbers(self, name: str) -> np.ndarray:
        """A column of integers, floats or booleans as an array ``[N]``.

        Raises:
            DataFormatError: for a missing column, another type, or a row without value.
        """
        import pyarrow as pa
        self.require(name)
        values = self.column(name)
        if not (pa.types.is_integer(values.type) or pa.types.is_floating(values.type) or pa.types.is_boolean(values.type)):
            raise DataFormatError(self.path, f'column {name}', f'type {values.type}', 'expected numbers; class_encode_column of the '
                                  'datasets library makes them of names')
        if values.null_count:
            at = int(np.flatnonzero(values.is_null().to_numpy())[0])
            raise DataFormatError(self.path, self.where(at), f'no {name}', f'{values.null_count} of {len(values)} rows have none')
        return values.to_numpy()

    def require(self, name: str) -> None:
        """Raises a DataFormatError unless there is a column of that name."""
        if name not in self.schema.names:
            raise DataFormatError(self.path, value=f'no column {name}', hint=f'found: {", ".join(self.schema.names)}')

    def class_names(self, label: str) -> list[str] | None:
        """The names of a ClassLabel feature, which ``datasets`` keeps in the schema."""
        try:
            info = json.loads((self.schema.metadata or {}).get(b'huggingface', b'{}'))
            return info['info']['features'][label]['names']
        except (KeyError, TypeError, ValueError):
            return None

    def __len__(self) -> int:
        return self._rows

    def read(self, row: int) -> memoryview:
        """The encoded image of a row."""
        piece = bisect_right(self._starts, row) - 1
        image = self._piece(piece)[row - self._starts[piece]]
        if not image.is_valid:
            raise DataFormatError(self.path, self.where(row), 'no image bytes', 'images that are files elsewhere are not read: save the '
                                  'set with its images embedded')
        return memoryview(image.as_buffer()).toreadonly().cast('B')  # pyarrow's bytes have a sign

    def where(self, row: int) -> str:
        file = bisect_right(self._first_rows, row) - 1
        return f'{self.files[file].name} row {row - self._first_rows[file]}'

    def _add_file(self, rows_of_pieces: list[int]) -> None:
        self._first_rows.append(self._rows)
        for rows in rows_of_pieces:
            self._starts.append(self._rows)
            self._rows += rows

    def _use_schema(self, file: Path, schema: 'pa.Schema') -> None:
        if file != self.files[0]:
            if not schema.equals(self.schema):
                raise DataFormatError(file, value=f'columns {", ".join(schema.names)}',
                                      hint=f'{self.files[0].name} has {", ".join(self.schema.names)}, or of other types')
            return
        import pyarrow as pa
        self.schema = schema
        self.require(self.image)
        kind = schema.field(self.image).type
        if pa.types.is_struct(kind) and kind.get_field_index('bytes') >= 0:
            kind = kind.field('bytes').type
        if not (pa.types.is_binary(kind) or pa.types.is_large_binary(kind)):
            raise DataFormatError(self.path, f'column {self.image}', f'type {kind}', _ENCODED)

    @staticmethod
    def _encoded(images: 'pa.Array') -> 'pa.Array':
        import pyarrow as pa
        return images.field('bytes') if pa.types.is_struct(images.type) else images

    def __getstate__(self) -> dict[str, Any]:
        return dict(path=self.path, files=self.files, image=self.image)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state)
