"""A recognizer and its exported file: the same numbers, and a file that says what it is."""
import dataclasses
import hashlib
import json
import os

import numpy as np
import onnx
import pytest
import torch
from onnx import numpy_helper

from mmface.export import (
    PRECISIONS,
    GateError,
    GraphOptions,
    Licence,
    ParityError,
    Provenance,
    embedding_export,
    export_onnx,
    model_id,
    onnx_exporter,
    read_metadata,
)
from mmface.utils import import_onnxruntime

MEAN, STD, SIZE = np.array([100, 120, 130]), np.array([50, 60, 70]), (16, 12)  # in the network's order, which is BGR
IMAGES = np.random.default_rng(5).integers(0, 256, (5, *SIZE, 3), np.uint8)


def run(path, images):
    session = import_onnxruntime().InferenceSession(str(path), providers=['CPUExecutionProvider'])
    return session.run(None, {'images': images})[0]


def by_hand(model, images):
    """Preprocessing written out in NumPy, then the parts one after another."""
    normalised = ((images[..., ::-1] - MEAN) / STD).transpose(0, 3, 1, 2).astype(np.float32)
    model.eval()
    with torch.no_grad():
        embeddings = model.neck(model.backbone(torch.from_numpy(np.ascontiguousarray(normalised)))[0]).numpy()
    model.train()
    return embeddings


@pytest.fixture(scope='module')
def exported(shared_recognizer, tmp_path_factory):
    provenance = Provenance('tiny.py', 'c0', 'c1', 'twenty people', Licence('Apache-2.0', 'research', 'unknown'))
    return export_onnx(shared_recognizer, tmp_path_factory.mktemp('export') / 'new/tiny.onnx', images=IMAGES, provenance=provenance)


@pytest.fixture
def traced(exported, monkeypatch):
    """What the exporter gets from torch from now on, to be tampered with."""
    proto = onnx.load(exported.path)
    monkeypatch.setattr(embedding_export, 'trace_embedding', lambda graph, opset: proto)
    return proto


def weight(proto, name):
    return next(tensor for tensor in proto.graph.initializer if name in tensor.name)


def test_the_file_takes_rgb_bytes_in_any_batch_and_gives_what_the_network_gives(exported, shared_recognizer):
    for batch in (1, 3, 5):
        np.testing.assert_allclose(run(exported.path, IMAGES[:batch]), by_hand(shared_recognizer, IMAGES[:batch]), rtol=0, atol=1e-5)
    assert np.abs(run(exported.path, IMAGES[..., ::-1].copy()) - by_hand(shared_recognizer, IMAGES)).max() > .1


def test_the_file_says_what_it_is(exported):
    model = onnx.load(exported.path)
    record = read_metadata(model, exported.path)
    assert record == exported.metadata
    assert record['input'] == dict(
        layout='NHWC', dtype='uint8', size=[16, 12], color='RGB', mean=[130, 120, 100], std=[70, 60, 50], template='arcface')
    assert record['preprocessing_in_graph'] is True
    assert record['output'] == dict(embedding='embedding', dim=6, normalized=False, norm=None, flip=False)
    assert record['licence'] == dict(code='Apache-2.0', weights='research', data='unknown')
    assert (record['schema'], record['precision'], record['thresholds']) == (1, 'fp32', [])
    assert (record['config'], record['config_sha256'], record['checkpoint_sha256']) == ('tiny.py', 'c0', 'c1')
    assert record['training_set'] == 'twenty people'
    assert record['model_id'] == model_id(model)
    takes, gives = model.graph.input[0], model.graph.output[0]
    assert (takes.name, takes.type.tensor_type.elem_type) == ('images', onnx.TensorProto.UINT8)
    assert [d.dim_param or d.dim_value for d in takes.type.tensor_type.shape.dim] == ['batch', 16, 12, 3]
    assert [d.dim_param or d.dim_value for d in gives.type.tensor_type.shape.dim] == ['batch', 6]
    assert exported.sha256 == hashlib.sha256(exported.path.read_bytes()).hexdigest()


def test_the_report_beside_the_file_says_how_the_gate_ended(exported):
    report = json.loads(exported.path.with_name('export_report.json').read_text())
    assert (report['verdict'], report['file'], report['sha256']) == ('passed', 'tiny.onnx', exported.sha256)
    assert report['model_id'] == exported.metadata['model_id']
    assert report['checks'] == exported.metadata['gate']['checks'] == [dataclasses.asdict(check) for check in exported.checks]


@pytest.mark.parametrize('options', [
    GraphOptions(layout='NCHW'),
    GraphOptions(preprocessing=False),
    GraphOptions(layout='NCHW', preprocessing=False, norm=True),
    GraphOptions(flip=True, normalize=True, norm=True),
])
def test_the_graph_takes_and_gives_what_was_asked_for(recognizer, tmp_path, options):
    report = export_onnx(recognizer, tmp_path / 'tiny.onnx', options=options)
    inputs = IMAGES if options.preprocessing else ((IMAGES[..., ::-1] - MEAN) / STD).astype(np.float32)
    session = import_onnxruntime().InferenceSession(str(report.path), providers=['CPUExecutionProvider'])
    outputs = session.run(None, {'images': np.ascontiguousarray(inputs.transpose(0, 3, 1, 2) if options.layout == 'NCHW' else inputs)})
    expected = by_hand(recognizer, IMAGES)
    if options.flip:
        expected = expected + by_hand(recognizer, IMAGES[:, :, ::-1])
    norms = np.linalg.norm(expected, axis=1)
    if options.normalize:
        expected = expected / norms[:, None]
    np.testing.assert_allclose(outputs[0], expected, rtol=0, atol=1e-5)
    assert len(outputs) == 1 + options.norm
    if options.norm:
        np.testing.assert_allclose(outputs[1], norms, rtol=1e-5)
    record = report.metadata
    assert record['output'] == dict(
        embedding='embedding', dim=6, normalized=options.normalize, norm='norm' if options.norm else None, flip=options.flip)
    takes = record['input']
    assert (takes['layout'], takes['dtype']) == (options.layout, 'uint8' if options.preprocessing else 'float32')
    assert (takes['color'], takes['mean']) == (('RGB', [130, 120, 100]) if options.preprocessing else ('BGR', [100, 120, 130]))


def noting(seen):

    def measure(source, candidate):
        seen.append([embed(IMAGES)[0] for embed in (source, candidate)])
        return dict(accuracy=1.)

    return measure


@pytest.mark.parametrize('name', ['fp16', 'int8'])
def test_a_lossy_precision_is_near_its_source_smaller_and_judged_by_the_end_metric(recognizer, tmp_path, name):
    seen = []
    report = export_onnx(recognizer, tmp_path / 'tiny.onnx', images=IMAGES, precision=PRECISIONS[name], end_metric=noting(seen))
    (source, candidate), = seen
    np.testing.assert_allclose(source, by_hand(recognizer, IMAGES), rtol=0, atol=1e-5)
    assert 0 < np.abs(candidate - source).max() < .1 * np.abs(source).max()
    assert report.metadata['precision'] == name
    assert report.metadata['gate']['end_metric'] == dict(accuracy=1.)
    kinds = {tensor.data_type for tensor in onnx.load(report.path).graph.initializer}
    assert {'fp16': onnx.TensorProto.FLOAT16, 'int8': onnx.TensorProto.UINT8}[name] in kinds


def test_a_lossy_precision_without_an_end_metric_or_images_is_refused(recognizer, tmp_path):
    with pytest.raises(ValueError, match='needs an end metric'):
        export_onnx(recognizer, tmp_path / 'tiny.onnx', images=IMAGES, precision=PRECISIONS['int8'])
    with pytest.raises(ValueError, match='give some aligned faces'):
        export_onnx(recognizer, tmp_path / 'tiny.onnx', precision=PRECISIONS['int8'], end_metric=noting([]))
    assert not list(tmp_path.iterdir())


def test_a_file_whose_end_metric_fell_is_not_kept(recognizer, tmp_path):

    def fallen(source, candidate):
        raise GateError('accuracy fell from 99 % to 90 %')

    with pytest.raises(GateError, match='fell from'):
        export_onnx(recognizer, tmp_path / 'tiny.onnx', end_metric=fallen)
    assert [file.name for file in tmp_path.iterdir()] == ['export_report.json']
    assert json.loads((tmp_path / 'export_report.json').read_text())['problem'] == 'accuracy fell from 99 % to 90 %'


def test_a_provider_that_is_not_there_is_refused(recognizer, tmp_path):
    with pytest.raises(ValueError, match='has no NoSuchProvider'):
        export_onnx(recognizer, tmp_path / 'tiny.onnx', provider='NoSuchProvider')


def test_the_check_ran_on_random_and_on_given_images_at_batch_1_2_and_7(exported):
    assert [(check.kind, check.images, check.batch) for check in exported.checks] == [
        (kind, images, batch) for kind, images in (('random', 7), ('given', 5)) for batch in (1, 2, 7)]
    assert exported.metadata['gate']['max_relative_difference'] == max(check.max_relative_difference for check in exported.checks) < 1e-4


def test_the_head_and_the_folders_of_this_machine_stay_out(exported):
    data = exported.path.read_bytes()
    assert len(data) < 20_000 * 6 * 4 / 4
    for text in ('site-packages', __file__, os.path.dirname(onnx_exporter.__file__), 'stack_trace'):
        assert text.encode() not in data


def test_the_network_is_left_as_it_was(exported, shared_recognizer):
    assert shared_recognizer.training
    assert shared_recognizer.neck.norm.training
    assert shared_recognizer.head.weight.shape == (20_000, 6)
    assert [name for name, _ in shared_recognizer.named_children()] == ['data_preprocessor', 'backbone', 'neck', 'head']


def test_prototypes_that_may_be_larger_than_all_the_rest_are_not_even_copied(recognizer, tmp_path, traced, monkeypatch):

    def copied(self, memo):
        raise AssertionError('the head was copied')

    monkeypatch.setattr(type(recognizer.head), '__deepcopy__', copied, raising=False)
    export_onnx(recognizer, tmp_path / 'tiny.onnx')


def test_exporting_again_gives_the_same_model_without_a_word(exported, shared_recognizer, tmp_path, capfd, recwarn):
    again = export_onnx(shared_recognizer, tmp_path / 'again.onnx')
    assert again.metadata['model_id'] == exported.metadata['model_id']
    assert capfd.readouterr() == ('', '')
    assert not recwarn.list


def test_the_opset_is_the_one_asked_for(recognizer, tmp_path):
    report = export_onnx(recognizer, tmp_path / 'tiny.onnx', opset=18)
    assert [entry.version for entry in onnx.load(report.path).opset_import if entry.domain == ''] == [18] == [report.opset]


def test_an_opset_that_torch_cannot_write_is_refused(recognizer, tmp_path):
    with pytest.raises(RuntimeError, match=r'asked for opset 5, torch .* wrote'):
        export_onnx(recognizer, tmp_path / 'tiny.onnx', opset=5)
    assert not list(tmp_path.iterdir())


def swapped_channels(proto):
    kernel = weight(proto, 'backbone')
    kernel.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(kernel)[:, ::-1].copy(), kernel.name))


def slightly_off(proto):
    last = weight(proto, 'embedding_weight')
    last.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(last) * np.float32(1.002), last.name))


@pytest.mark.parametrize('fault', [swapped_channels, slightly_off])
def test_a_file_that_differs_is_not_kept_nor_an_earlier_one_under_its_name(recognizer, tmp_path, traced, fault):
    fault(traced)
    (tmp_path / 'tiny.onnx').write_bytes(b'an earlier export')
    with pytest.raises(ParityError, match=r'by more than fp32 may \(a relative difference of 0\.0001\)') as caught:
        export_onnx(recognizer, tmp_path / 'tiny.onnx')
    assert all(check.max_relative_difference > 1e-4 for check in caught.value.checks)
    assert [file.name for file in tmp_path.iterdir()] == ['export_report.json']
    report = json.loads((tmp_path / 'export_report.json').read_text())
    assert (report['verdict'], report['file'], len(report['checks'])) == ('failed', 'tiny.onnx', 3)
    assert report['problem'] == str(caught.value)


def test_the_tolerance_decides(recognizer, tmp_path, traced):
    slightly_off(traced)
    loose = dataclasses.replace(PRECISIONS['fp32'], max_relative_difference=.1)
    assert export_onnx(recognizer, tmp_path / 'tiny.onnx', precision=loose).path.is_file()


def test_a_file_frozen_to_one_batch_is_not_kept(recognizer, tmp_path, traced):
    traced.graph.input[0].type.tensor_type.shape.dim[0].dim_value = 1
    with pytest.raises(ParityError, match=r'batch 7, 7 random images: max relative difference inf, min cosine -1\.0+ \(it does') as caught:
        export_onnx(recognizer, tmp_path / 'tiny.onnx')
    assert [np.isinf(check.max_relative_difference) for check in caught.value.checks] == [False, True, True]
    assert not (tmp_path / 'tiny.onnx').exists()


def test_a_network_that_torch_cannot_trace_is_refused_by_name(recognizer, tmp_path, monkeypatch):
    monkeypatch.setattr(embedding_export.copy, 'deepcopy', lambda model: model)
    recognizer.neck.register_forward_hook(lambda module, x, y: y * float(str(y.sum().item())))
    with pytest.raises(RuntimeError, match='cannot export FaceRecognizer to ONNX'):
        export_onnx(recognizer, tmp_path / 'tiny.onnx')


def test_an_interrupted_write_leaves_nothing_under_any_name(recognizer, tmp_path, traced, monkeypatch):

    def full(*_):
        raise OSError('no space left')

    monkeypatch.setattr(os, 'fsync', full)
    with pytest.raises(OSError, match='no space left'):
        export_onnx(recognizer, tmp_path / 'tiny.onnx')
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize('images', [IMAGES.astype(np.float32), IMAGES[:, :8], IMAGES[:0], IMAGES[0]])
def test_images_of_another_kind_are_refused(recognizer, tmp_path, images):
    with pytest.raises(ValueError, match=r'must be uint8 \[N, 16, 12, 3\]'):
        export_onnx(recognizer, tmp_path / 'tiny.onnx', images=images)


def test_a_folder_is_not_a_file_to_write(recognizer, tmp_path):
    with pytest.raises(ValueError, match='is a folder'):
        export_onnx(recognizer, tmp_path)
    assert tmp_path.is_dir()


def test_an_empty_licence_is_refused():
    with pytest.raises(ValueError, match=r'licence of the weights is empty.*"unknown"'):
        Licence(weights=' ')
