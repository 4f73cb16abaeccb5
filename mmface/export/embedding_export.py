"""A recognizer on its way into a file of whatever kind."""
import copy
from dataclasses import asdict, dataclass
from functools import cached_property

import numpy as np
import onnx
from mmengine.model import BaseModel

from .embedding_graph import EmbeddingGraph
from .fold_batchnorms import fold_batchnorms
from .graph_options import GraphOptions
from .inputs import prepare_images
from .metadata import SCHEMA
from .model_id import model_id
from .precision import Precision
from .provenance import Provenance
from .trace import trace_embedding


@dataclass(frozen=True)
class EmbeddingExport:
    """The embedding of a recognizer, with what was asked for around it.

    Attributes:
        model: the recognizer, see :func:`inference_copy`.
        options: what the file takes and gives.
        precision: its number format.
        opset: version of the default ONNX operator set.
    """
    model: BaseModel
    options: GraphOptions
    precision: Precision
    opset: int

    @cached_property
    def graph(self) -> EmbeddingGraph:
        """The computation, in the backbone's number format."""
        model = self.model
        if self.precision.prepare is not None:
            model = copy.deepcopy(model)
            self.precision.prepare(model)
        return EmbeddingGraph(model, self.options).eval()

    def to_onnx(self, images: np.ndarray | None) -> onnx.ModelProto:
        """As ONNX operators in the final number format, BatchNorms folded.

        Args:
            images: uint8 RGB [N, H, W, 3] to calibrate with, where the precision asks for some.
        """
        proto = trace_embedding(self.graph, self.opset)
        fold_batchnorms(proto)
        if self.precision.convert is not None and images is not None:
            preprocessor = self.model.data_preprocessor
            scale = {} if self.options.preprocessing else dict(
                color=preprocessor.color, mean=preprocessor.mean, std=preprocessor.std, dtype=np.float32)
            proto = self.precision.convert(proto, prepare_images(images, self.options.layout == 'NCHW', **scale))
        onnx.checker.check_model(proto)
        return proto

    def describe(self, proto: onnx.ModelProto, provenance: Provenance | None, thresholds: dict | None) -> dict:
        """The metadata but for the gate.

        Raises:
            ValueError: thresholds of another network.
        """
        preprocessor, options = self.model.data_preprocessor, self.options
        # What the caller supplies: RGB where the file reorders by itself, else what the network wants; mean and std are in that order.
        color = 'RGB' if options.preprocessing else preprocessor.color
        order = 1 if color == preprocessor.color else -1
        identity = model_id(proto)
        if thresholds is not None and thresholds['model_id'] != identity:
            raise ValueError(f'the thresholds are of the network {thresholds["model_id"]}, this one is {identity}: '
                             'a threshold holds for no other network')
        return dict(
            asdict(provenance or Provenance()),
            schema=SCHEMA,
            input=dict(
                layout=options.layout,
                dtype='uint8' if options.preprocessing else 'float32',
                size=list(preprocessor.size),
                color=color,
                mean=list(map(float, preprocessor.mean))[::order],
                std=list(map(float, preprocessor.std))[::order],
                template=preprocessor.template),
            preprocessing_in_graph=options.preprocessing,
            output=dict(
                embedding='embedding',
                dim=proto.graph.output[0].type.tensor_type.shape.dim[1].dim_value,
                normalized=options.normalize,
                norm='norm' if options.norm else None,
                flip=options.flip),
            model_id=identity,
            precision=self.precision.name,
            thresholds=[] if thresholds is None else thresholds['thresholds'])


def inference_copy(model: BaseModel) -> BaseModel:
    """On the CPU, in evaluation mode and without the head, whose prototypes may be larger than all the rest."""
    head, model.head = model.head, None
    try:
        return copy.deepcopy(model).cpu().float().eval()
    finally:
        model.head = head
