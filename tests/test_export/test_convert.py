"""An ONNX file in another number format, judged against itself."""
import json

import numpy as np
import onnx
import pytest

from mmface.apis import OnnxEmbedder
from mmface.export import PRECISIONS, GateError, ParityError, convert_onnx, export_onnx
from mmface.export.annotate import annotate_onnx
from mmface.utils import import_onnxruntime

IMAGES = np.random.default_rng(5).integers(0, 256, (6, 16, 12, 3), np.uint8)
IMAGENET = dict(mean=(123.675, 116.28, 103.53), std=(58.395, 57.12, 57.375), color='RGB', size=(112, 112))


def nothing(source, candidate):
    return {}


@pytest.fixture(scope='module')
def source(shared_recognizer, tmp_path_factory):
    return export_onnx(shared_recognizer, tmp_path_factory.mktemp('export') / 'tiny.onnx')


@pytest.mark.parametrize('name', ['fp16', 'int8'])
def test_a_file_becomes_smaller_stays_near_and_is_another_network(source, tmp_path, name):
    seen = []
    report = convert_onnx(source.path, tmp_path / 'small.onnx', precision=PRECISIONS[name], images=IMAGES,
                          end_metric=lambda before, after: seen.append([embed(IMAGES)[0] for embed in (before, after)]) or {})
    (before, after), = seen
    np.testing.assert_allclose(before, OnnxEmbedder(source.path).embed(IMAGES), rtol=1e-5, atol=1e-5)
    np.testing.assert_array_equal(after, OnnxEmbedder(report.path).embed(IMAGES))
    assert 0 < np.abs(after - before).max() < .1 * np.abs(before).max()
    assert (report.metadata['precision'], report.metadata['input']) == (name, source.metadata['input'])
    assert report.metadata['model_id'] != source.metadata['model_id']
    kinds = {tensor.data_type for tensor in onnx.load(report.path).graph.initializer}
    assert {'fp16': onnx.TensorProto.FLOAT16, 'int8': onnx.TensorProto.UINT8}[name] in kinds


def test_int8_sums_are_those_of_real_numbers_on_every_processor(source, tmp_path):
    """Sums of signed weights saturate where there is no VNNI and are wrong there; with it, only the first assertion could see them."""
    convert_onnx(source.path, tmp_path / 'small.onnx', precision=PRECISIONS['int8'], images=IMAGES, end_metric=nothing)
    proto = onnx.load(tmp_path / 'small.onnx')
    kinds = {tensor.name: tensor.data_type for tensor in proto.graph.initializer}
    by_channel = [kinds[node.input[0]] for node in proto.graph.node if node.op_type == 'DequantizeLinear' and node.attribute]
    assert by_channel and set(by_channel) <= {onnx.TensorProto.UINT8, onnx.TensorProto.INT32}  # weights, biases
    runtime = import_onnxruntime()
    options = runtime.SessionOptions()
    options.graph_optimization_level = runtime.GraphOptimizationLevel.ORT_DISABLE_ALL  # dequantises, then computes in float32
    session = runtime.InferenceSession(str(tmp_path / 'small.onnx'), options, providers=['CPUExecutionProvider'])
    expected = session.run(None, {'images': IMAGES})[0]
    np.testing.assert_allclose(OnnxEmbedder(tmp_path / 'small.onnx').embed(IMAGES), expected, rtol=0, atol=.02 * np.abs(expected).max())


def test_a_file_whose_end_metric_fell_is_not_kept(source, tmp_path):

    def fallen(before, after):
        raise GateError('fell')

    with pytest.raises(GateError, match='fell'):
        convert_onnx(source.path, tmp_path / 'small.onnx', precision=PRECISIONS['fp16'], end_metric=fallen)
    assert json.loads((tmp_path / 'export_report.json').read_text())['verdict'] == 'failed'
    assert not (tmp_path / 'small.onnx').exists()


def test_what_cannot_be_converted_is_said(source, tmp_path):
    bare = onnx.load(source.path)
    del bare.metadata_props[:]
    onnx.save(bare, tmp_path / 'bare.onnx')
    with pytest.raises(ValueError, match=r'bare\.onnx: has no record.*annotate'):
        convert_onnx(tmp_path / 'bare.onnx', tmp_path / 'x.onnx', precision=PRECISIONS['fp16'], end_metric=nothing)
    with pytest.raises(ValueError, match='bf16 cannot be made from a file'):
        convert_onnx(source.path, tmp_path / 'x.onnx', precision=PRECISIONS['bf16'], end_metric=nothing)
    half = convert_onnx(source.path, tmp_path / 'half.onnx', precision=PRECISIONS['fp16'], end_metric=nothing)
    with pytest.raises(ValueError, match='from a file in fp16'):
        convert_onnx(half.path, tmp_path / 'x.onnx', precision=PRECISIONS['int8'], images=IMAGES, end_metric=nothing)
    (tmp_path / 'junk.onnx').write_bytes(b'junk')
    with pytest.raises(ValueError, match='not an ONNX file'):
        convert_onnx(tmp_path / 'junk.onnx', tmp_path / 'x.onnx', precision=PRECISIONS['fp16'], end_metric=nothing)


def test_a_real_network_survives_int8_once_activations_are_quantised_behind_their_clip(shared, tmp_path, real_crops, capfd):
    annotate_onnx(shared / 'models/mobilefacenet.onnx', tmp_path / 'real.onnx', **IMAGENET)
    report = convert_onnx(tmp_path / 'real.onnx', tmp_path / 'int8.onnx', precision=PRECISIONS['int8'], images=real_crops,
                          end_metric=nothing)
    assert min(check.min_cosine for check in report.checks if check.kind == 'given') > .98
    assert report.path.stat().st_size < .4 * (tmp_path / 'real.onnx').stat().st_size
    assert capfd.readouterr() == ('', '')
    with pytest.raises(ParityError):
        convert_onnx(tmp_path / 'real.onnx', tmp_path / 'int8.onnx', precision=PRECISIONS['int8'], images=real_crops[:1] * 0,
                     end_metric=nothing)
