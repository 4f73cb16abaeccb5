"""Somebody else's file with a free batch and a record."""
import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from mmface.apis import OnnxEmbedder
from mmface.export import ParityError, annotate, read_metadata
from mmface.export.annotate import annotate_onnx, free_batch

NEEDS = dict(mean=(127.5, ) * 3, std=(128., ) * 3, color='BGR', size=(4, 6))


def frozen(shape_as: str = 'initializer', first: int = 1, kind: int = TensorProto.FLOAT) -> onnx.ModelProto:
    """A convolution over the whole image, reshaped to [1, -1] as exporters write it that were given one image."""
    rng = np.random.default_rng(0)
    shape = numpy_helper.from_array(np.array([first, -1]), 'shape')
    nodes = [helper.make_node('Conv', ['x', 'w'], ['map']), helper.make_node('Reshape', ['map', 'shape'], ['y'])]
    weights = [numpy_helper.from_array(rng.normal(size=(5, 3, 4, 6)).astype(np.float32), 'w')]
    if shape_as == 'initializer':
        weights.append(shape)
    else:
        nodes.insert(0, helper.make_node('Constant', [], ['shape'], value=shape))
    graph = helper.make_graph(nodes, 'g', [helper.make_tensor_value_info('x', kind, [1, 3, 4, 6])],
                              [helper.make_tensor_value_info('y', TensorProto.FLOAT, [1, 5])], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid('', 13)], ir_version=8)


@pytest.mark.parametrize('shape_as', ['initializer', 'node'])
def test_a_file_frozen_to_one_image_takes_any_number_and_says_what_it_needs(tmp_path, shape_as):
    onnx.save(frozen(shape_as), tmp_path / 'theirs.onnx')
    record = annotate_onnx(tmp_path / 'theirs.onnx', tmp_path / 'ours.onnx', **NEEDS)
    assert [(check['batch'], check['max_relative_difference'] < 1e-5) for check in record['gate']['checks']] == [
        (1, True), (2, True), (7, True)]  # yapf: disable
    ours, theirs = OnnxEmbedder(tmp_path / 'ours.onnx'), OnnxEmbedder(tmp_path / 'theirs.onnx', **NEEDS)
    assert (ours.batch_size, theirs.batch_size) == (None, 1)
    images = np.random.default_rng(1).integers(0, 256, (5, 4, 6, 3), np.uint8)
    np.testing.assert_allclose(ours.embed(images), theirs.embed(images), rtol=1e-5, atol=1e-5)
    assert ours.metadata == record == read_metadata(onnx.load(tmp_path / 'ours.onnx'), 'ours')
    assert record['model_id'] == ours.model_id


def test_only_shapes_that_begin_with_the_batch_change():
    copy = free_batch(frozen(first=-1))
    assert numpy_helper.to_array(copy.graph.initializer[1]).tolist() == [-1, -1]
    assert numpy_helper.to_array(free_batch(frozen()).graph.initializer[1]).tolist() == [0, -1]


def test_a_copy_that_differs_is_not_written(tmp_path, monkeypatch):
    onnx.save(frozen(), tmp_path / 'theirs.onnx')

    def without_the_shapes(model):
        copy = free_batch(model)
        copy.graph.initializer[1].CopyFrom(model.graph.initializer[1])
        return copy

    monkeypatch.setattr(annotate, 'free_batch', without_the_shapes)
    with pytest.raises(ParityError, match=r'batch 2, 7 random images: max relative difference inf.*shapes \[\(1, 10\)\]'):
        annotate_onnx(tmp_path / 'theirs.onnx', tmp_path / 'ours.onnx', **NEEDS)
    assert [file.name for file in tmp_path.iterdir()] == ['theirs.onnx']


def test_what_is_no_such_network_is_named(tmp_path):
    (tmp_path / 'junk.onnx').write_bytes(b'junk')
    with pytest.raises(ValueError, match=r'junk\.onnx: not an ONNX file'):
        annotate_onnx(tmp_path / 'junk.onnx', tmp_path / 'ours.onnx', **NEEDS)
    onnx.save(frozen(kind=TensorProto.UINT8), tmp_path / 'bytes.onnx')
    with pytest.raises(ValueError, match=r'bytes\.onnx: expected an input of float32'):
        annotate_onnx(tmp_path / 'bytes.onnx', tmp_path / 'ours.onnx', **NEEDS)
    onnx.save(frozen(), tmp_path / 'theirs.onnx')
    annotate_onnx(tmp_path / 'theirs.onnx', tmp_path / 'ours.onnx', **NEEDS)
    with pytest.raises(ValueError, match='has a record of mmface already'):
        annotate_onnx(tmp_path / 'ours.onnx', tmp_path / 'again.onnx', **NEEDS)


def test_a_real_network_frozen_to_one_image_is_freed(shared, tmp_path):
    needs = dict(mean=(123.675, 116.28, 103.53), std=(58.395, 57.12, 57.375), color='RGB', size=(112, 112))
    record = annotate_onnx(shared / 'models/mobilefacenet.onnx', tmp_path / 'ours.onnx', **needs)
    assert record['output']['dim'] == 128
    assert all(check['max_relative_difference'] < 1e-4 for check in record['gate']['checks'])
