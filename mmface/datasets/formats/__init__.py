"""Readers and writers of the field's data on disk, one format a file; see :mod:`.table` for how to add one."""
from .agedb import AgeDB
from .calfw import CALFW
from .cfp import CFP
from .cplfw import CPLFW
from .cvlface_list import CVLFaceList
from .embeddings import read_embeddings, write_embeddings
from .errors import DataFormatError, DataFormatWarning
from .facexzoo_list import FaceXZooList
from .folder import ImageFolder
from .groups import read_groups
from .huggingface.eval import HuggingFaceEval
from .huggingface.records import HuggingFaceRecords
from .ijb import IJB
from .ijbs import IJBS
from .im2rec_list import Im2RecList
from .insightface_list import InsightFaceList
from .lfw import LFW
from .lfw_view1 import LFWView1
from .lmdb.records import LMDB
from .magface_list import MagFaceList
from .megaface import MegaFace
from .memfile import MemFile
from .pair_pack.reader import PairPack
from .pickles.metadata_pt import read_metadata_pt
from .recordio.reader import RecordIO
from .rfw import RFW
from .scface import SCface
from .table import EVALS, RECORDS, open_eval, open_records
from .tar_shards.records import TarShards
from .tinyface import TinyFace
from .xqlfw import XQLFW

__all__ = [
    'CALFW', 'CFP', 'CPLFW', 'EVALS', 'IJB', 'IJBS', 'LFW', 'LMDB', 'RECORDS', 'RFW', 'XQLFW', 'AgeDB', 'CVLFaceList', 'DataFormatError',
    'DataFormatWarning', 'FaceXZooList', 'HuggingFaceEval', 'HuggingFaceRecords', 'Im2RecList', 'ImageFolder', 'InsightFaceList',
    'LFWView1', 'MagFaceList', 'MegaFace', 'MemFile', 'PairPack', 'RecordIO', 'SCface', 'TarShards', 'TinyFace', 'open_eval',
    'open_records', 'read_embeddings', 'read_groups', 'read_metadata_pt', 'write_embeddings'
]
