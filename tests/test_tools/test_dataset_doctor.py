"""tools/dataset_doctor.py: exit codes and what goes where."""
import importlib.util
import json
from pathlib import Path

import cv2
import numpy as np
import pytest

from mmface.datasets.formats.recordio.writer import write_training_set

TOOL = Path(__file__).resolve().parents[2] / 'tools/dataset_doctor.py'


@pytest.fixture(scope='module')
def doctor():
    spec = importlib.util.spec_from_file_location('dataset_doctor', TOOL)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.main


@pytest.fixture
def rec(tmp_path) -> Path:
    images = [cv2.imencode('.png', np.full((112, 112, 3), at, np.uint8))[1].tobytes() for at in range(4)]
    write_training_set(tmp_path / 'train.rec', [images[:2], images[2:]])
    return tmp_path / 'train.rec'


def test_a_sound_set_is_zero_and_a_broken_one_is_one(doctor, rec, capsys):
    assert doctor([str(rec)]) == 0
    assert capsys.readouterr().out.splitlines()[0] == f'{rec}: recordio, 4 images, 2 classes'
    data = bytearray(rec.read_bytes())
    data[0] ^= 1
    rec.write_bytes(data)
    assert doctor([str(rec)]) == 1
    assert 'no record magic at offset 0' in capsys.readouterr().out


def test_json_is_one_object_and_nothing_else(doctor, rec, capsys):
    rec.with_suffix('.idx').unlink()
    assert doctor([str(rec), '--json']) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found['format'], found['num_images'], found['num_classes'], found['trainable']) == ('recordio', 4, 2, True)
    assert any('by scanning' in finding['message'] for finding in found['findings'])


@pytest.mark.parametrize('wrong', [
    ['nowhere'], ['{rec}', '--format', 'lmbd'], ['{rec}', '--images', '.'], ['{rec}', '--model', 'nowhere.onnx', '--against', 'x'],
])
def test_wrong_usage_is_two_and_one_line(doctor, rec, wrong, capsys):
    assert doctor([argument.format(rec=rec) for argument in wrong]) == 2
    said = capsys.readouterr()
    assert said.out == ''
    assert said.err.startswith('dataset_doctor: ')
    assert len(said.err.splitlines()) == 1


@pytest.mark.parametrize('wrong', [[], ['x', '--model', 'a.onnx'], ['x', '--images', 'a', '--lists-only']])
def test_options_that_need_or_exclude_each_other(doctor, wrong, capsys):
    with pytest.raises(SystemExit) as stopped:
        doctor(wrong)
    assert stopped.value.code == 2


def test_a_size_can_be_demanded(doctor, rec, capsys):
    assert doctor([str(rec), '--size', '112', '112']) == 0
    assert doctor([str(rec), '--size', '112', '96']) == 1
    assert '112 x 112, in 4 images, where 112 x 96 are expected' in capsys.readouterr().out
