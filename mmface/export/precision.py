"""The number formats that a network can be exported in."""
import logging
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx.version_converter
import torch
from mmengine.model import BaseModel
from onnx import numpy_helper
from torch import Tensor, nn

from mmface.utils import import_onnxruntime

_CALIBRATION_BATCH = 16
_QUANTIZED = ['Conv', 'Gemm', 'Clip', 'Relu']
"""Clip and Relu so that a convolution's range is the one behind them: MobileFaceNet's min cosine is .99 with and .88 without them."""
_OPSET_BY_CHANNEL = 13  # where QuantizeLinear learnt of channels


@dataclass(frozen=True)
class Precision:
    """A number format, how to get there, and how near it has to stay.

    Attributes:
        name: as it stands in the metadata.
        prepare: changes the recognizer, which is a copy, before it is traced; None leaves it.
        convert: from the traced model to the final one, given inputs as the file takes them to calibrate with; None leaves it.
        convert_file: from an ONNX file's model, with no recognizer behind it, likewise; None where that cannot be done.
        max_relative_difference: the largest difference from the source accepted, see :class:`mmface.export.ParityCheck`; None does not ask.
        min_cosine: the smallest cosine between an embedding and the source's accepted; None does not ask.
        lossy: whether the numbers differ by more than rounding, so that what counts is the end metric.
        calibrated: whether ``convert`` needs images.
    """
    name: str
    prepare: Callable[[BaseModel], object] | None = None
    convert: Callable[[onnx.ModelProto, np.ndarray], onnx.ModelProto] | None = None
    convert_file: Callable[[onnx.ModelProto, Any], onnx.ModelProto] | None = None
    max_relative_difference: float | None = None
    min_cosine: float | None = None
    lossy: bool = True
    calibrated: bool = False


class _Cast(nn.Module):
    """A backbone in another number format, between tensors of float32."""

    def __init__(self, backbone: nn.Module, dtype: torch.dtype) -> None:
        super().__init__()
        self.backbone, self.dtype = backbone.to(dtype), dtype

    def forward(self, inputs: Tensor) -> tuple[Tensor, ...]:
        return tuple(feature.float() for feature in self.backbone(inputs.to(self.dtype)))


def _cast_backbone(model: BaseModel, dtype: torch.dtype) -> None:
    """The backbone is nearly all of the work. Preprocessing, the neck's sum over tens of thousands of inputs, and norms stay float32."""
    model.backbone = _Cast(model.backbone, dtype)


def _quantize(proto: onnx.ModelProto, inputs: np.ndarray) -> onnx.ModelProto:
    """Static INT8, QDQ, weights by channel; the ranges of activations are those seen on ``inputs``."""
    from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static

    if next(entry.version for entry in proto.opset_import if entry.domain == '') < _OPSET_BY_CHANNEL:
        proto = onnx.version_converter.convert_version(proto, _OPSET_BY_CHANNEL)

    class Reader(CalibrationDataReader):
        batches = iter(np.split(inputs, range(_CALIBRATION_BATCH, len(inputs), _CALIBRATION_BATCH)))

        def get_next(self) -> dict | None:
            batch = next(self.batches, None)
            return None if batch is None else {proto.graph.input[0].name: batch}

    with tempfile.TemporaryDirectory() as folder, _quiet():
        path = Path(folder) / 'int8.onnx'
        quantize_static(proto, path, Reader(), quant_format=QuantFormat.QDQ, per_channel=True, activation_type=QuantType.QUInt8,
                        weight_type=QuantType.QInt8, op_types_to_quantize=_QUANTIZED)  # yapf: disable
        return _with_unsigned_weights(onnx.load(path))


def _with_unsigned_weights(proto: onnx.ModelProto) -> onnx.ModelProto:
    """The same numbers, with bytes of 0 to 255 around 128 in place of -128 to 127 around 0.

    An x86 processor without VNNI sums products of unsigned and signed bytes in 16 bits, which saturate: the same file gave other embeddings
    there (MobileFaceNet: a cosine of .83). Of unsigned bytes alone the sums are exact. Where there is VNNI, both are equally fast
    (microsoft/onnxruntime#4030). ONNX Runtime's own unsigned weights are a half step off centre, and less exact.
    """
    dequantized = {name for node in proto.graph.node if node.op_type == 'DequantizeLinear' for name in node.input}
    for tensor in proto.graph.initializer:
        if tensor.name in dequantized and tensor.data_type == onnx.TensorProto.INT8:
            shifted = numpy_helper.to_array(tensor).astype(np.int16) + 128
            tensor.CopyFrom(numpy_helper.from_array(shifted.astype(np.uint8), tensor.name))
    return proto


@contextmanager
def _quiet() -> Iterator[None]:
    """Without advice about graphs that a caller could have optimised before."""
    runtime = import_onnxruntime()
    runtime.set_default_logger_severity(3)
    logging.disable(logging.WARNING)
    try:
        yield
    finally:
        logging.disable(logging.NOTSET)
        runtime.set_default_logger_severity(2)


def _halve(proto: onnx.ModelProto, _: np.ndarray | None) -> onnx.ModelProto:
    """Float16 between inputs and outputs that stay as they are, but for the operators that ONNX Runtime's list keeps in float32."""
    from onnxruntime.transformers.float16 import convert_float_to_float16
    return convert_float_to_float16(proto, keep_io_types=True)


#: By name. Dynamic INT8 is not among them: ONNX Runtime's ConvInteger is slower than fp32.
PRECISIONS = {
    precision.name: precision
    for precision in (
        Precision('fp32', max_relative_difference=1e-4, lossy=False),
        Precision('fp16', prepare=partial(_cast_backbone, dtype=torch.float16), convert_file=_halve, min_cosine=.999),
        Precision('bf16', prepare=partial(_cast_backbone, dtype=torch.bfloat16), min_cosine=.999),
        Precision('int8', convert=_quantize, convert_file=_quantize, min_cosine=.98, calibrated=True),
    )
}
