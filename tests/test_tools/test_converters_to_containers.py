"""tools/dataset_converters/to_lmdb.py and to_shards.py: exit codes and what is said. The writers have tests of their own."""
import importlib.util
from pathlib import Path

import cv2
import numpy as np
import pytest

from mmface.datasets import open_records

CONVERTERS = Path(__file__).resolve().parents[2] / 'tools/dataset_converters'


@pytest.fixture(params=['to_lmdb', 'to_shards'])
def convert(request):
    if request.param == 'to_lmdb':
        pytest.importorskip('lmdb', reason='the converter writes with lmdb')
    spec = importlib.util.spec_from_file_location(request.param, CONVERTERS / f'{request.param}.py')
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.main


@pytest.fixture
def source(tmp_path) -> Path:
    for at, name in enumerate(('ada/1.png', 'ada/2.png', 'bob/1.png')):
        path = tmp_path / 'source' / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(cv2.imencode('.png', np.full((112, 112, 3), 50 * at, np.uint8))[1].tobytes())
    return tmp_path / 'source'


def test_a_folder_becomes_a_container_of_the_same_images(convert, source, tmp_path, capsys):
    assert convert([str(source), str(tmp_path / 'out')]) == 0
    assert f'3 images of 2 classes written to {tmp_path / "out"}' in capsys.readouterr().out
    before, after = open_records(source), open_records(tmp_path / 'out')
    assert [bytes(after.read(at)) for at in range(3)] == [before.read(at) for at in range(3)]
    assert (after.labels.tolist(), after.classes) == (before.labels.tolist(), before.classes)


def test_broken_images_end_it_unless_a_share_may_be_skipped(convert, source, tmp_path, capsys):
    (source / 'ada/2.png').write_bytes(b'<html>')
    assert convert([str(source), str(tmp_path / 'out')]) == 2
    assert 'ada/2.png: not an image' in capsys.readouterr().err
    assert not (tmp_path / 'out').exists()
    assert convert([str(source), str(tmp_path / 'out'), '--max-skipped', '0.5']) == 3
    assert len(open_records(tmp_path / 'out')) == 2


def test_a_result_that_is_there_is_not_overwritten(convert, source, tmp_path, capsys):
    (tmp_path / 'out').mkdir()
    assert convert([str(source), str(tmp_path / 'out')]) == 2
    assert 'out exists already' in capsys.readouterr().err
