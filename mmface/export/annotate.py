"""Somebody else's ONNX file, made usable: a free batch, and a record of what it needs."""
import functools
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import numpy_helper

from mmface.utils import import_onnxruntime
from mmface.utils.atomic_file import atomic_file

from .gate import BATCHES
from .inputs import prepare_images
from .metadata import SCHEMA, read_metadata, write_metadata
from .model_id import model_id
from .parity import Embed, ParityError, check_parity
from .precision import PRECISIONS
from .provenance import Provenance


def annotate_onnx(source: str | Path,
                  path: str | Path,
                  *,
                  mean: Sequence[float],
                  std: Sequence[float],
                  color: str,
                  size: Sequence[int],
                  template: str = 'arcface',
                  images: np.ndarray | None = None,
                  seed: int = 0,
                  provenance: Provenance | None = None) -> dict:
    """Writes a copy of a network whose batch is free and which says what it takes.

    A graph frozen to one image holds shapes like [1, -1] inside, so that at a batch of two it gives half as many rows of twice the length:
    such a first entry becomes 0, which means "as it came". The copy is then run at batch 1, 2 and 7 on random and on the given images
    against the original, image by image.

    Args:
        source: the file: one input, float32 or float16 [B, 3, H, W] or [B, H, W, 3], one output [B, D].
        path: the file to write; it appears complete and checked.
        mean: per channel, 0 ... 255, in the order of ``color``: the caller feeds ``(x - mean) / std``.
        std: likewise.
        color: ``'RGB'`` or ``'BGR'``, the order that the network wants.
        size: (height, width).
        template: the landmark template that its faces were aligned to.
        images: uint8 RGB [N, H, W, 3], aligned faces to check with beside random images.
        seed: of the random images.
        provenance: where the network comes from; None says 'unknown' everywhere.

    Returns:
        The record that was written.

    Raises:
        ParityError: the copy differs from the original.
        ValueError: not such a network, or one that has a record already.
        ImportError: ONNX Runtime is not installed.
    """
    source, path = Path(source), Path(path)
    try:
        original = onnx.load(source)
    except Exception as error:  # protobuf raises several classes
        raise ValueError(f'{source}: not an ONNX file ({error})') from error
    if read_metadata(original, source) is not None:
        raise ValueError(f'{source}: has a record of mmface already; annotate the file that it was made from')
    takes, gives = _signature(original, source)
    copy = free_batch(original)
    record = dict(
        schema=SCHEMA,
        input=dict(layout=takes['layout'], dtype=takes['dtype'], size=list(size), color=color, mean=list(mean), std=list(std),
                   template=template),
        preprocessing_in_graph=False, output=dict(embedding=gives['name'], dim=gives['dim'], normalized=False, norm=None, flip=False),
        model_id=model_id(copy), precision='fp32' if takes['dtype'] == 'float32' else 'fp16', thresholds=[],
        **asdict(provenance or Provenance()))  # yapf: disable
    prepare = functools.partial(prepare_images, channels_first=takes['layout'] == 'NCHW', color=color, mean=mean, std=std,
                                dtype=np.dtype(takes['dtype']).type)  # yapf: disable
    samples = dict(random=np.random.default_rng(seed).integers(0, 256, (max(BATCHES), *size, 3), np.uint8))
    if images is not None:
        samples['given'] = images
    whole, single = _runner(copy, prepare), _runner(original, prepare)
    checks = [check_parity(whole, _one_by_one(single), pixels, batch, kind) for kind, pixels in samples.items() for batch in BATCHES]
    if not all(check.passes(PRECISIONS['fp32']) for check in checks):
        raise ParityError(checks, PRECISIONS['fp32'])
    record['gate'] = dict(verdict='passed', against='the original, image by image', checks=[asdict(check) for check in checks])
    write_metadata(copy, record)
    with atomic_file(path) as file:
        file.write(copy.SerializeToString())
    return record


def free_batch(model: onnx.ModelProto) -> onnx.ModelProto:
    """A copy whose first dimension is free, in inputs, outputs, and the constant shapes of its ``Reshape`` nodes."""
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    frozen = copy.graph.input[0].type.tensor_type.shape.dim[0].dim_value
    for value in (*copy.graph.input, *copy.graph.output):
        value.type.tensor_type.shape.dim[0].dim_param = 'batch'
    del copy.graph.value_info[:]  # shapes of the frozen batch
    if not frozen:
        return copy
    shapes = {node.input[1] for node in copy.graph.node if node.op_type == 'Reshape'}
    for tensor in [*copy.graph.initializer, *(_value(node) for node in copy.graph.node if node.op_type == 'Constant')]:
        if tensor is not None and tensor.name in shapes:
            shape = numpy_helper.to_array(tensor)
            if shape.ndim == 1 and len(shape) and shape[0] == frozen:
                tensor.CopyFrom(numpy_helper.from_array(np.concatenate([[0], shape[1:]]).astype(shape.dtype), tensor.name))
    return copy


def _value(constant: onnx.NodeProto) -> onnx.TensorProto | None:
    """The tensor in a ``Constant`` node, under the name of what the node gives."""
    for entry in constant.attribute:
        if entry.name == 'value':
            entry.t.name = constant.output[0]
            return entry.t
    return None


def _signature(model: onnx.ModelProto, source: Path) -> tuple[dict, dict]:
    weights = {tensor.name for tensor in model.graph.initializer}
    inputs = [value for value in model.graph.input if value.name not in weights]
    types = {onnx.TensorProto.FLOAT: 'float32', onnx.TensorProto.FLOAT16: 'float16'}
    shapes = [[dim.dim_value for dim in value.type.tensor_type.shape.dim] for value in (*inputs, *model.graph.output)]
    if len(inputs) != 1 or len(model.graph.output) != 1 or len(shapes[0]) != 4 or len(shapes[1]) != 2 or 3 not in shapes[0][1::2]:
        raise ValueError(f'{source}: expected one input [B, 3, H, W] or [B, H, W, 3] and one output [B, D], this file has {shapes}')
    kind = types.get(inputs[0].type.tensor_type.elem_type)
    if kind is None:
        raise ValueError(f'{source}: expected an input of float32 or float16; a file that takes uint8 knows its preprocessing itself')
    layout = 'NCHW' if shapes[0][1] == 3 else 'NHWC'
    return dict(layout=layout, dtype=kind), dict(name=model.graph.output[0].name, dim=shapes[1][1])


def _runner(model: onnx.ModelProto, prepare: Callable[[np.ndarray], np.ndarray]) -> Embed:
    runtime = import_onnxruntime()
    options = runtime.SessionOptions()
    options.log_severity_level = 3

    @functools.cache
    def session() -> Any:
        return runtime.InferenceSession(model.SerializeToString(), options, providers=['CPUExecutionProvider'])

    return lambda images: session().run(None, {model.graph.input[0].name: prepare(images)})


def _one_by_one(embed: Embed) -> Embed:
    return lambda images: [np.concatenate([embed(image[None])[0] for image in images])]
