"""The contact sheet shows what training sees."""
import runpy
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from mmface.datasets import FaceDataset

TOOL = Path(__file__).resolve().parents[2] / 'tools/analysis/browse_dataset.py'
CONFIG = """train_dataloader = dict(dataset=dict(type='FaceDataset', path={path!r}, pipeline=[
    dict(type='DecodeFace'), dict(type='RandomCropInPlace', prob=.8), dict(type='RandomFlip', prob=.5), dict(type='PackFace')]))
"""


@pytest.fixture(scope='module')
def browse():
    return runpy.run_path(str(TOOL))


@pytest.fixture
def config(tmp_path):
    for at, person in enumerate(('Ada', 'Ada', 'Bo')):
        path = tmp_path / f'set/{person}/{at}.png'
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.effect_noise((48, 40), 20 + 30 * at).convert('RGB').save(path)
    (tmp_path / 'config.py').write_text(CONFIG.format(path=str(tmp_path / 'set')))
    return tmp_path / 'config.py'


def test_each_row_is_the_stored_image_and_then_the_samples_of_each_epoch(browse, config, tmp_path, capsys):
    out = tmp_path / 'out/sheet.png'
    assert browse['main']([str(config), '--indices', '2', '0', '--epochs', '3', '--out', str(out)]) == 0
    assert str(out) in capsys.readouterr().out
    sheet, left, gap = np.asarray(Image.open(out)), browse['MARGIN'], browse['GAP']
    pipeline = [dict(type='DecodeFace'), dict(type='RandomCropInPlace', prob=.8), dict(type='RandomFlip', prob=.5), dict(type='PackFace')]
    dataset = FaceDataset(str(tmp_path / 'set'), pipeline=pipeline)
    for row, at in enumerate((2, 0)):
        top = gap + row * (40 + gap)
        cells = [sheet[top:top + 40, left + column * (48 + gap):][:, :48] for column in range(4)]
        assert np.array_equal(cells[0], np.asarray(Image.open(sorted((tmp_path / 'set').glob('*/*.png'))[at])))
        for epoch in range(3):
            assert np.array_equal(cells[1 + epoch], dataset[epoch, at]['inputs'].permute(1, 2, 0).numpy())
        assert (sheet[top:top + 40, :left] < 128).any(), 'label and name'


def test_labels_and_names_are_said(browse, config, tmp_path):
    dataset = FaceDataset(str(tmp_path / 'set'), pipeline=[dict(type='DecodeFace'), dict(type='PackFace')])
    text, images = browse['row'](dataset, 2, 1)
    assert text.splitlines() == ['image 2', 'label 1', 'Bo', 'Bo/2.png']
    assert len(images) == 2


def test_wrong_input_is_answered_in_one_line(browse, config, tmp_path, capsys):
    assert browse['main']([str(config), '--indices', '7', '--out', str(tmp_path / 'x.png')]) == 2
    assert 'there is no image 7: the set has 3' in capsys.readouterr().err
    (tmp_path / 'set/Bo/2.png').write_bytes(b'')
    assert browse['main']([str(config), '--out', str(tmp_path / 'x.png')]) == 2
    assert 'Bo/2.png: empty file' in capsys.readouterr().err
    assert not (tmp_path / 'x.png').exists()
