"""Training sets in the files of Hugging Face's ``datasets``."""
from pathlib import Path

from ..common.class_numbers import class_numbers
from ..common.class_sizes import log_class_sizes
from ..errors import DataFormatError
from ..table import RECORDS
from .source import is_evaluation_set, is_table, open_table


@RECORDS.register('huggingface')
class HuggingFaceRecords:
    """A ``save_to_disk`` folder (Arrow) or Parquet files with a column of encoded images and one of labels. Needs pyarrow only.

    Attributes:
        path: what was opened.
        labels: int64 ``[N]``, in ``[0, num_classes)``.
        num_classes: those that a ClassLabel feature names, else the largest label + 1.
        classes: name -> label of a ClassLabel feature, else None.

    Args:
        path: the folder, or one file.
        image: the column of the images.
        label: the column of the labels.

    Raises:
        DataFormatError: naming file and row, column or record batch.
        ImportError: without pyarrow, naming the extra.
    """

    def __init__(self, path: Path, image: str = 'image', label: str = 'label') -> None:
        self.path, self.table = path, open_table(path, image)
        self.labels = class_numbers(path, self.where, self.table.numbers(label))
        names = self.table.class_names(label)
        self.classes = None if names is None else {name: at for at, name in enumerate(names)}
        self.num_classes = int(self.labels.max()) + 1 if names is None else len(names)
        if self.num_classes <= self.labels.max():
            at = int(self.labels.argmax())
            raise DataFormatError(path, self.where(at), f'label {self.labels[at]}', f'the feature {label} names {self.num_classes} classes')
        log_class_sizes(path, self.labels, self.num_classes)

    @staticmethod
    def sniff(path: Path) -> bool:
        return is_table(path) and not is_evaluation_set(path)

    def __len__(self) -> int:
        return len(self.table)

    def read(self, index: int) -> memoryview:
        return self.table.read(index)

    def where(self, index: int) -> str:
        return self.table.where(index)
