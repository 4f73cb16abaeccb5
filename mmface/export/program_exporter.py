"""A recognizer as a ``torch.export`` program, for those who serve with torch."""
import io
import json
import re
import zipfile
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import numpy as np
import torch
from mmengine.model import BaseModel
from torch import Tensor

from .embedding_export import EmbeddingExport, inference_copy
from .gate import EndMetric, ExportReport, Gate, check_request, sample_images
from .graph_options import GraphOptions
from .inputs import prepare_images
from .metadata import METADATA_KEY, parse_metadata
from .parity import Embed, torch_embedder
from .precision import PRECISIONS, Precision
from .provenance import Provenance

# What torch writes for a program of plain tensors. It would unpickle sample inputs, scripted and opaque objects, other tensor classes.
_PLAIN = re.compile(r'data/weights/weight_\d+|data/constants/tensor_\d+|data/(weights|constants)/model_\1_config\.json|models/model\.json|'
                    rf'extra/{METADATA_KEY}|archive_format|archive_version|byteorder|\.data/(version|serialization_id)')
# Of sizes, such as Mul(Integer(2), Symbol('s34', positive=True)); torch evaluates them.
_EXPRESSION = re.compile(r"([A-Z][A-Za-z]*\(|'s\d+'|[a-z]+=(True|False)|-?\d+|[ ,)])*")


def export_program(model: BaseModel,
                   path: str | Path,
                   *,
                   images: np.ndarray | None = None,
                   opset: int = 20,
                   options: GraphOptions | None = None,
                   precision: Precision = PRECISIONS['fp32'],
                   end_metric: EndMetric | None = None,
                   provider: str = 'CPUExecutionProvider',  # noqa: ARG001  the exporters are called alike
                   seed: int = 0,
                   provenance: Provenance | None = None,
                   thresholds: dict | None = None) -> ExportReport:
    """Exports as :func:`~mmface.export.export_onnx` does, with the same arguments, gate and metadata, into a ``.pt2`` file.

    torch itself runs the checks, on the CPU, and ``provider`` is without effect. The model id is that of the ONNX file exported with the
    same options and opset, so that thresholds and galleries serve both. The record stands in the archive's extra file ``mmface``.
    TorchScript is not offered: torch calls it deprecated.

    Raises:
        ValueError: further, a precision that exists in ONNX alone (INT8).
    """
    path, options = Path(path), options or GraphOptions()
    check_request(path, precision, images, end_metric)
    if precision.convert is not None:
        raise ValueError(f'{path}: {precision.name} is made of ONNX operators: export to an .onnx file')
    samples = sample_images(tuple(model.data_preprocessor.size), images, seed)
    export = EmbeddingExport(inference_copy(model), options, precision, opset)
    gate = Gate(path, precision, samples, opset, 'torch', end_metric, asdict(options))
    try:
        record = export.describe(export.to_onnx(images), provenance, thresholds)
        program = _trace(export)
        return gate.admit(torch_embedder(export.model, options), _runner(program.module(), record), record,
                          lambda metadata: _serialise(program, metadata))  # yapf: disable
    except Exception:
        path.unlink(missing_ok=True)
        raise


def load_program(path: str | Path) -> tuple[Callable[[Tensor], Tensor | tuple[Tensor, Tensor]], dict]:
    """Opens a ``.pt2`` file of ours, from images (as its record says) to embeddings. Nothing in it is unpickled.

    Returns:
        The module, and the record of its metadata.

    Raises:
        FileNotFoundError: no such file.
        ValueError: not such a file, or one that holds more than plain tensors and operators.
    """
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f'{path}: no such file, expected a .pt2 file')
    try:
        _check_plain(path)
        extra = {METADATA_KEY: ''}
        module = torch.export.load(path, extra_files=extra).module()
    except Exception as error:  # zipfile and torch raise a dozen classes
        raise ValueError(f'{path}: not a .pt2 file that "mmface export" wrote ({error})') from error
    return module, parse_metadata(extra[METADATA_KEY], path)


def _check_plain(path: Path) -> None:
    with zipfile.ZipFile(path) as archive:
        inside = {name.partition('/')[2]: name for name in archive.namelist()}
        if f'extra/{METADATA_KEY}' not in inside:
            raise ValueError('it has no record of mmface')
        for name, full in inside.items():
            if archive.getinfo(full).file_size and not _PLAIN.fullmatch(name):
                raise ValueError(f'it holds {name}, which torch could unpickle')
        for kind in ('weights', 'constants'):
            entries = json.loads(archive.read(inside[f'data/{kind}/model_{kind}_config.json']))['config'].values()
            if any(entry['use_pickle'] for entry in entries):
                raise ValueError(f'it holds {kind} that torch would unpickle')
        for expression in re.findall(r'"expr_str": "(.*?)"', archive.read(inside['models/model.json']).decode()):
            if not _EXPRESSION.fullmatch(expression):
                raise ValueError(f'it holds the size {expression!r}')


def _trace(export: EmbeddingExport) -> torch.export.ExportedProgram:
    graph = export.graph
    try:
        with torch.no_grad():
            program = torch.export.export(graph, (graph.example, ), dynamic_shapes={'images': {0: torch.export.Dim('batch')}})
    except Exception as error:
        raise RuntimeError(f'torch {torch.__version__} cannot export {type(export.model).__name__}: {error}') from error
    program.example_inputs = None
    for node in program.graph.nodes:  # the source lines, with the folders of this machine
        node.meta.pop('stack_trace', None)
    return program


def _runner(module: Callable, record: dict) -> Embed:
    takes = record['input']
    scale = {} if record['preprocessing_in_graph'] else dict(mean=takes['mean'], std=takes['std'], dtype=np.float32)

    @torch.no_grad()
    def embed(images: np.ndarray) -> list[np.ndarray]:
        found = module(torch.from_numpy(prepare_images(images, takes['layout'] == 'NCHW', takes['color'], **scale)))
        return [output.numpy() for output in (found if isinstance(found, tuple) else (found, ))]

    return embed


def _serialise(program: torch.export.ExportedProgram, metadata: dict) -> bytes:
    buffer = io.BytesIO()
    torch.export.save(program, buffer, extra_files={METADATA_KEY: json.dumps(metadata, sort_keys=True, allow_nan=False)})
    return buffer.getvalue()
