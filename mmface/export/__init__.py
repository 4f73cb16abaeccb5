"""From a recognizer to a file that says what it needs and has proved itself against its source."""
from .convert import convert_onnx
from .embedding_graph import EmbeddingGraph
from .gate import ExportReport
from .graph_options import GraphOptions
from .metadata import METADATA_KEY, SCHEMA, parse_metadata, read_metadata, write_metadata
from .model_id import model_id, strip_remarks
from .onnx_exporter import export_onnx
from .parity import GateError, ParityCheck, ParityError
from .precision import PRECISIONS, Precision
from .program_exporter import export_program, load_program
from .provenance import Licence, Provenance

__all__ = [
    'METADATA_KEY', 'PRECISIONS', 'SCHEMA', 'EmbeddingGraph', 'ExportReport', 'GateError', 'GraphOptions', 'Licence', 'ParityCheck',
    'ParityError', 'Precision', 'Provenance', 'convert_onnx', 'export_onnx', 'export_program', 'load_program', 'model_id',
    'parse_metadata', 'read_metadata', 'strip_remarks', 'write_metadata'
]
