"""Readers and writers of the field's data on disk, one format a file; see :mod:`.table` for how to add one."""
from .errors import DataFormatError, DataFormatWarning
from .folder import ImageFolder
from .lfw import LFW
from .recordio import RecordIO
from .table import EVALS, RECORDS, open_eval, open_records

__all__ = ['EVALS', 'LFW', 'RECORDS', 'DataFormatError', 'DataFormatWarning', 'ImageFolder', 'RecordIO', 'open_eval', 'open_records']
