"""The embedder feeds a network what it wants, or says why it cannot."""
import json

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from mmface.apis.onnx_backend import OnnxEmbedder

FOREIGN = dict(mean=(10, 20, 30), std=(2, 4, 8), color='RGB')


def channel_means(path, dtype=TensorProto.FLOAT, shape=('B', 3, 4, 5), outputs=1, metadata=None, output_shape=('B', 3)):
    """A file whose embedding is the mean of each channel as it arrives: what the network was fed can be read off."""
    axes = [2, 3] if shape[1] == 3 else [1, 2]
    nodes = [
        helper.make_node('Cast', ['images'], ['float'], to=TensorProto.FLOAT),
        helper.make_node('ReduceMean', ['float', 'axes'], ['embedding'], keepdims=0)
    ]
    made = [helper.make_tensor_value_info('embedding', TensorProto.FLOAT, output_shape)]
    if outputs == 2:
        nodes.append(helper.make_node('Neg', ['embedding'], ['another']))
        made.insert(0, helper.make_tensor_value_info('another', TensorProto.FLOAT, output_shape))
    graph = helper.make_graph(nodes, 'toy', [helper.make_tensor_value_info('images', dtype, shape)], made,
                              [helper.make_tensor('axes', TensorProto.INT64, [2], axes)])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid('', 18)], ir_version=9)
    if metadata is not None:
        helper.set_model_props(model, dict(mmface=metadata if isinstance(metadata, str) else json.dumps(dict(schema=1) | metadata)))
    onnx.save(model, path)
    return path


def record(**input_fields):
    return dict(input=dict(dict(size=[4, 5], color='RGB', mean=[10, 20, 30], std=[2, 4, 8]), **input_fields))


def images(count=7):
    return np.random.default_rng(0).integers(0, 256, (count, 4, 5, 3), dtype=np.uint8)


@pytest.mark.parametrize('shape', [('B', 3, 4, 5), ('B', 4, 5, 3), (1, 3, 4, 5), (4, 3, 4, 5), ('B', 3, 'H', 'W')])
def test_pixels_are_scaled_channel_by_channel_whatever_the_layout_and_batch(tmp_path, shape):
    embedder = OnnxEmbedder(channel_means(tmp_path / 'toy.onnx', shape=shape, output_shape=(shape[0], 3)), size=(4, 5), **FOREIGN)
    expected = (images().astype(np.float64).mean((1, 2)) - [10, 20, 30]) / [2, 4, 8]
    found = embedder.embed(images())
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, expected, rtol=1e-5)
    assert embedder.batch_size == (shape[0] if shape[0] != 'B' else None)


def test_bgr_means_that_the_network_sees_blue_first(tmp_path):
    embedder = OnnxEmbedder(channel_means(tmp_path / 'toy.onnx'), **dict(FOREIGN, color='BGR'))
    expected = (images().astype(np.float64).mean((1, 2))[:, ::-1] - [10, 20, 30]) / [2, 4, 8]  # mean and std are in the network's order
    np.testing.assert_allclose(embedder.embed(images()), expected, rtol=1e-5)


def test_half_precision_is_fed_and_float32_comes_out(tmp_path):
    embedder = OnnxEmbedder(channel_means(tmp_path / 'toy.onnx', TensorProto.FLOAT16), **FOREIGN)
    expected = (images().astype(np.float64).mean((1, 2)) - [10, 20, 30]) / [2, 4, 8]
    np.testing.assert_allclose(embedder.embed(images()), expected, atol=0.05)
    assert embedder.embed(images()).dtype == np.float32


def test_a_file_that_preprocesses_gets_the_pixels_themselves(tmp_path):
    metadata = dict(record(), preprocessing_in_graph=True, output=dict(embedding='embedding'))
    embedder = OnnxEmbedder(channel_means(tmp_path / 'toy.onnx', TensorProto.UINT8, ('B', 4, 5, 3), metadata=metadata))
    np.testing.assert_allclose(embedder.embed(images()), images().mean((1, 2)), rtol=1e-6)
    assert (embedder.mean, embedder.std, embedder.color, embedder.size, embedder.in_graph) == ((10, 20, 30), (2, 4, 8), 'RGB', (4, 5), True)


def test_metadata_say_how_to_preprocess(tmp_path):
    told = OnnxEmbedder(channel_means(tmp_path / 'told.onnx', metadata=record(color='BGR')))
    given = OnnxEmbedder(channel_means(tmp_path / 'given.onnx'), **dict(FOREIGN, color='BGR'))
    np.testing.assert_array_equal(told.embed(images()), given.embed(images()))


@pytest.mark.parametrize('argument', [dict(mean=(0, 0, 0)), dict(std=(1, 1, 1)), dict(color='BGR'), dict(size=(112, 112))])
def test_an_argument_that_contradicts_the_metadata_is_refused(tmp_path, argument):
    path = channel_means(tmp_path / 'toy.onnx', metadata=record())
    OnnxEmbedder(path, size=(4, 5), **FOREIGN)  # saying the same is no contradiction
    with pytest.raises(ValueError, match=f'{next(iter(argument))} .* was given, but the file is made for'):
        OnnxEmbedder(path, **argument)


@pytest.mark.parametrize('name', ['mean', 'std', 'color'])
def test_what_nobody_tells_is_asked_for(tmp_path, name):
    with pytest.raises(ValueError, match=f"do not give '{name}'.*--{name}"):
        OnnxEmbedder(channel_means(tmp_path / 'toy.onnx'), **{key: value for key, value in FOREIGN.items() if key != name})


def test_a_size_that_the_graph_leaves_open_is_asked_for(tmp_path):
    with pytest.raises(ValueError, match="do not give 'size'"):
        OnnxEmbedder(channel_means(tmp_path / 'toy.onnx', shape=('B', 3, 'H', 'W')), **FOREIGN)


def test_a_uint8_file_without_metadata_takes_no_scaling(tmp_path):
    path = channel_means(tmp_path / 'toy.onnx', TensorProto.UINT8)
    np.testing.assert_allclose(OnnxEmbedder(path, color='RGB').embed(images()), images().mean((1, 2)), rtol=1e-6)
    with pytest.raises(ValueError, match='scales by itself'):
        OnnxEmbedder(path, **FOREIGN)


def test_of_several_outputs_the_metadata_name_the_embedding(tmp_path):
    named = channel_means(tmp_path / 'named.onnx', outputs=2, metadata=dict(record(), output=dict(embedding='embedding')))
    assert (OnnxEmbedder(named).embed(images()) > -15).all()
    with pytest.raises(ValueError, match='a face network gives one embedding'):
        OnnxEmbedder(channel_means(tmp_path / 'unnamed.onnx', outputs=2), **FOREIGN)


@pytest.mark.parametrize('metadata, says', [('{', 'are not JSON'), ('[]', 'schema None'), (dict(schema=2), 'schema 2')])
def test_metadata_that_cannot_be_trusted_are_refused(tmp_path, metadata, says):
    with pytest.raises(ValueError, match=says):
        OnnxEmbedder(channel_means(tmp_path / 'toy.onnx', metadata=metadata))


@pytest.mark.parametrize('fault', [
    dict(images=images()[:, :3]), dict(images=images().astype(np.float32)), dict(images=images()[0]), dict(images=images()[:0]),
])
def test_other_images_are_refused(tmp_path, fault):
    with pytest.raises(ValueError, match=r'expected uint8 RGB images \[B, 4, 5, 3\]'):
        OnnxEmbedder(channel_means(tmp_path / 'toy.onnx'), **FOREIGN).embed(**fault)


def test_other_files_are_refused(tmp_path):
    (tmp_path / 'text.onnx').write_text('<html>not found</html>')
    with pytest.raises(ValueError, match=r'text\.onnx: ONNX Runtime cannot load it'):
        OnnxEmbedder(tmp_path / 'text.onnx')
    with pytest.raises(FileNotFoundError, match=r'none\.onnx: no such file'):
        OnnxEmbedder(tmp_path / 'none.onnx')
    with pytest.raises(ValueError, match=r'takes images \[.B., 1, 4, 5\]'):
        OnnxEmbedder(channel_means(tmp_path / 'grey.onnx', shape=('B', 1, 4, 5)))
    with pytest.raises(ValueError, match='NoSuchProvider was asked for, but this ONNX Runtime has'):
        OnnxEmbedder(channel_means(tmp_path / 'toy.onnx'), providers=['NoSuchProvider'], **FOREIGN)


def test_a_detector_is_not_a_face_network(shared):
    with pytest.raises(ValueError, match='a face network gives one embedding'):
        OnnxEmbedder(shared / 'models/yunet.onnx')
