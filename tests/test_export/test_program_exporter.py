"""A recognizer and its torch.export program."""
import copy
import dataclasses
import io
import json
import pickle
import zipfile

import numpy as np
import onnx
import pytest
import torch

from mmface.export import PRECISIONS, GraphOptions, ParityError, export_onnx, export_program, load_program, program_exporter
from mmface.export.parity import torch_embedder

IMAGES = np.random.default_rng(5).integers(0, 256, (5, 16, 12, 3), np.uint8)


@pytest.fixture(scope='module')
def exported(shared_recognizer, tmp_path_factory):
    path = tmp_path_factory.mktemp('export') / 'tiny.pt2'
    return export_program(shared_recognizer, path, images=IMAGES, options=GraphOptions(flip=True, normalize=True, norm=True))


def test_the_program_gives_what_the_network_gives_in_any_batch(exported, shared_recognizer):
    module, record = load_program(exported.path)
    assert record == exported.metadata
    model = shared_recognizer.eval()
    expected = torch_embedder(model, GraphOptions(flip=True, normalize=True, norm=True))(IMAGES)
    model.train()
    for batch in (1, 5):
        for found, wanted in zip(module(torch.from_numpy(IMAGES[:batch])), expected, strict=True):
            np.testing.assert_allclose(found.detach().numpy(), wanted[:batch], rtol=1e-4, atol=1e-5)


def test_it_has_the_identity_of_the_onnx_file_and_the_same_gate(exported, shared_recognizer, tmp_path):
    twin = export_onnx(shared_recognizer, tmp_path / 'tiny.onnx', options=GraphOptions(flip=True, normalize=True, norm=True))
    assert exported.metadata['model_id'] == twin.metadata['model_id']
    assert [(check.kind, check.batch) for check in exported.checks] == [(kind, n) for kind in ('random', 'given') for n in (1, 2, 7)]
    assert exported.metadata['gate']['provider'] == 'torch'
    assert json.loads(exported.path.with_name('export_report.json').read_text())['sha256'] == exported.sha256


def test_the_folders_of_this_machine_stay_out(exported):
    with zipfile.ZipFile(exported.path) as archive:
        everything = b''.join(map(archive.read, archive.namelist()))
    for text in ('site-packages', 'File "', 'mmface/models'):
        assert text.encode() not in everything


def test_a_program_that_differs_is_not_kept(recognizer, tmp_path, monkeypatch):
    trace = program_exporter._trace

    def tampered(export):
        other = copy.deepcopy(export.model)
        other.neck.fc.weight.data *= 1.01
        return trace(dataclasses.replace(export, model=other))

    monkeypatch.setattr(program_exporter, '_trace', tampered)
    (tmp_path / 'tiny.pt2').write_bytes(b'an earlier export')
    with pytest.raises(ParityError):
        export_program(recognizer, tmp_path / 'tiny.pt2')
    assert [file.name for file in tmp_path.iterdir()] == ['export_report.json']


def test_int8_is_for_onnx(recognizer, tmp_path):
    with pytest.raises(ValueError, match=r'export to an \.onnx file'):
        export_program(recognizer, tmp_path / 'tiny.pt2', images=IMAGES, precision=PRECISIONS['int8'], end_metric=lambda *_: {})


class Intruder:

    def __reduce__(self):
        return open, ('/dev/null', )


def repacked(source, target, change):
    """A copy whose entries (without the archive's folder) went through ``change``."""
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, 'w') as new:
        entries = {name: old.read(name) for name in old.namelist()}
        for name, data in change(entries).items():
            new.writestr(name, data)
    return target


@pytest.mark.parametrize(('change', 'says'), [
    (lambda entries: {**entries, 'archive/data/sample_inputs/model.pt': pickle.dumps(Intruder())}, 'sample_inputs'),
    (lambda entries: {**entries, 'archive/data/constants/opaque_obj_0': pickle.dumps(Intruder())}, 'opaque_obj_0'),
    (lambda entries: {name: data.replace(b'"use_pickle": false', b'"use_pickle": true') for name, data in entries.items()}, 'unpickle'),
    (lambda entries: {name: data.replace(b'"expr_str": "', b'"expr_str": "__import__.') for name, data in entries.items()}, 'the size'),
    (lambda entries: {name: data for name, data in entries.items() if 'extra' not in name}, 'no record'),
])
def test_a_file_that_could_run_code_is_refused_unread(exported, tmp_path, monkeypatch, change, says):
    monkeypatch.setattr(torch.export, 'load', lambda *_, **__: pytest.fail('it was opened'))
    with pytest.raises(ValueError, match=rf'(?s)bad\.pt2: not a \.pt2 file that "mmface export" wrote.*{says}'):
        load_program(repacked(exported.path, tmp_path / 'bad.pt2', change))


def test_what_is_no_archive_is_named(tmp_path):
    (tmp_path / 'bad.pt2').write_bytes(io.BytesIO(b'junk').getvalue())
    with pytest.raises(ValueError, match=r'bad\.pt2: not a \.pt2 file'):
        load_program(tmp_path / 'bad.pt2')
    with pytest.raises(FileNotFoundError, match=r'expected a \.pt2 file'):
        load_program(tmp_path / 'none.pt2')


def test_an_onnx_file_is_none(shared_recognizer, tmp_path):
    onnx.save(onnx.ModelProto(ir_version=8), tmp_path / 'x.pt2')
    with pytest.raises(ValueError, match=r'not a \.pt2 file'):
        load_program(tmp_path / 'x.pt2')
