"""BatchNorms become part of the convolutions and matrix products behind them."""
import numpy as np
import onnx
import torch
from onnx import numpy_helper


def fold_batchnorms(proto: onnx.ModelProto) -> int:
    """Folds, in place, every BatchNorm that is read by convolutions alone, or by one ``Gemm`` behind a ``Reshape``.

    torch's exporter folds a BatchNorm into the convolution before it. One *before* a convolution that pads with zeros, as in each block of
    IResNet, needs more than a bias: with norm(x) = s x + t, conv(pad(norm(x))) = conv'(pad(x)) + conv(pad(t)), whose second part is a
    constant image of the convolution's output size, different at the borders. It is computed once, here, and added.

    Args:
        proto: a graph in inference form, images of one size, weights as initializers.

    Returns:
        How many were folded; a BatchNorm that something else reads stays as it is.
    """
    return _Folder(proto).fold()


class _Folder:
    """A graph with its lookup tables."""

    def __init__(self, proto: onnx.ModelProto) -> None:
        self.graph = proto.graph
        self.weights = {tensor.name: tensor for tensor in self.graph.initializer}
        inferred = onnx.shape_inference.infer_shapes(proto).graph
        self.shapes = {value.name: [dim.dim_value for dim in value.type.tensor_type.shape.dim]
                       for value in (*inferred.value_info, *inferred.input, *inferred.output)}  # yapf: disable

    def fold(self) -> int:
        folded = [norm for norm in self.graph.node if norm.op_type == 'BatchNormalization' and self._fold(norm)]
        for norm in folded:
            for reader in self._readers(norm.output[0]):
                reader.input[list(reader.input).index(norm.output[0])] = norm.input[0]
            self.graph.node.remove(norm)
        read = {name for node in self.graph.node for name in node.input}
        for tensor in [tensor for tensor in self.graph.initializer if tensor.name not in read]:
            self.graph.initializer.remove(tensor)
        return len(folded)

    def _fold(self, norm: onnx.NodeProto) -> bool:
        readers = self._readers(norm.output[0])
        kinds = [reader.op_type for reader in readers]
        if kinds and set(kinds) == {'Conv'} and all(_attributes(reader).get('auto_pad', b'NOTSET') == b'NOTSET' for reader in readers):
            for reader in readers:
                self._into_conv(reader, *self._affine(norm))
            return True
        if kinds == ['Reshape']:
            behind = self._readers(readers[0].output[0])
            if [node.op_type for node in behind] == ['Gemm'] and _attributes(behind[0]).get('transB', 0) == 1:
                self._into_gemm(behind[0], *self._affine(norm))
                return True
        return False

    def _readers(self, name: str) -> list[onnx.NodeProto]:
        """The nodes that read a value; none where the graph gives it away."""
        given_away = any(output.name == name for output in self.graph.output)
        return [] if given_away else [node for node in self.graph.node if name in node.input]

    def _affine(self, norm: onnx.NodeProto) -> tuple[np.ndarray, np.ndarray]:
        """Float64 s and t with norm(x) = s x + t, each a channel."""
        gamma, beta, mean, variance = (self._weight(norm.input[at]) for at in range(1, 5))
        scale = gamma / np.sqrt(variance + _attributes(norm).get('epsilon', 1e-5))
        return scale, beta - scale * mean

    def _into_conv(self, conv: onnx.NodeProto, scale: np.ndarray, shift: np.ndarray) -> None:
        kernel, options, result = self._weight(conv.input[1]), _attributes(conv), conv.output[0]
        groups, pads = options.get('group', 1), options.get('pads', [0, 0, 0, 0])
        fan_in = scale.reshape(groups, 1, -1, 1, 1)  # kernel [O, I / groups, h, w]: output channels of a group read its input channels
        scaled = (kernel.reshape(groups, -1, *kernel.shape[1:]) * fan_in).reshape(kernel.shape)
        conv.input[1] = self._like(conv.input[1], f'{result}_kernel', scaled)
        height, width = self.shapes[conv.input[0]][2:]
        image = torch.from_numpy(np.broadcast_to(shift[:, None, None], (len(shift), height, width)).copy())
        padded = torch.nn.functional.pad(image, (pads[1], pads[3], pads[0], pads[2]))
        constant = torch.nn.functional.conv2d(
            padded[None], torch.from_numpy(kernel), stride=options.get('strides', [1, 1]), dilation=options.get('dilations', [1, 1]),
            groups=groups).numpy()
        conv.output[0], shift_name = f'{result}_without_shift', self._like(conv.input[1], f'{result}_shift', constant)
        add = onnx.helper.make_node('Add', [conv.output[0], shift_name], [result], f'{conv.name}_shift')
        self.graph.node.insert(list(self.graph.node).index(conv) + 1, add)

    def _into_gemm(self, gemm: onnx.NodeProto, scale: np.ndarray, shift: np.ndarray) -> None:
        weight, result = self._weight(gemm.input[1]), gemm.output[0]  # [D, C H W]
        by_channel = weight.reshape(len(weight), len(scale), -1)
        bias = by_channel.sum(2) @ shift
        if len(gemm.input) > 2:
            bias = bias + self._weight(gemm.input[2])
        gemm.input[1] = self._like(gemm.input[1], f'{result}_weight', (by_channel * scale[:, None]).reshape(weight.shape))
        del gemm.input[2:]
        gemm.input.append(self._like(gemm.input[1], f'{result}_bias', bias))

    def _weight(self, name: str) -> np.ndarray:
        return numpy_helper.to_array(self.weights[name]).astype(np.float64)

    def _like(self, other: str, name: str, value: np.ndarray) -> str:
        """Adds a weight in the number format of another, and returns its name."""
        dtype = onnx.helper.tensor_dtype_to_np_dtype(self.weights[other].data_type)
        self.weights[name] = numpy_helper.from_array(value.astype(dtype), name)
        self.graph.initializer.append(self.weights[name])
        return name


def _attributes(node: onnx.NodeProto) -> dict:
    return {entry.name: onnx.helper.get_attribute_value(entry) for entry in node.attribute}
