"""The model zoo: what there is, how it comes here, and how other projects' files become ours."""
from .convert import Converted, convert
from .download import download
from .entry import LicenceTerms, ModelEntry, Origin, Result
from .errors import DownloadError, UnverifiedError
from .fetch_weights import fetch_weights
from .foreign_file import read_own, write_foreign
from .manifest import Manifest
from .metafile_error import MetafileError
from .model_index import ModelIndex, model_index
from .model_pair import ModelPair
from .safe_load import find_weights, safe_load

__all__ = [
    'Converted', 'DownloadError', 'LicenceTerms', 'Manifest', 'MetafileError', 'ModelEntry', 'ModelIndex', 'ModelPair', 'Origin', 'Result',
    'UnverifiedError', 'convert', 'download', 'fetch_weights', 'find_weights', 'model_index', 'read_own', 'safe_load', 'write_foreign'
]
