"""Norm, P and quality over a training: the command, on pictures whose quality is known."""
import csv
import importlib.util
from pathlib import Path

import cv2
import numpy as np
import pytest
import torch
from mmengine.config import Config
from mmengine.registry import DefaultScope
from PIL import Image
from scipy.stats import pearsonr

from mmface.apis.lab.training_samples import draw_training_samples
from mmface.datasets.formats.recordio.writer import write_training_set
from mmface.datasets.procedural import ProceduralFaces
from mmface.registry import MODELS

ROOT = Path(__file__).resolve().parents[2]
PEOPLE, PICTURES = 3, 8
FACTORS = np.tile([1, 8], PEOPLE * PICTURES // 2)
needs_brisque = pytest.mark.skipif(importlib.util.find_spec('brisque') is None, reason='needs the extra quality')


def jpeg(person, at):
    image = ProceduralFaces(0).draw(person, at)[0]
    side = 112 // FACTORS[person * PICTURES + at]
    image = cv2.resize(cv2.resize(image, (side, side), interpolation=cv2.INTER_AREA), (112, 112), interpolation=cv2.INTER_CUBIC)
    return cv2.imencode('.jpg', image)[1].tobytes()


@pytest.fixture(scope='module')
def training(tmp_path_factory):
    """A config, two checkpoints, and the folder that they are in."""
    folder = tmp_path_factory.mktemp('training')
    write_training_set(folder / 'train.rec', ((jpeg(person, at) for at in range(PICTURES)) for person in range(PEOPLE)))
    config = folder / 'config.py'
    config.write_text(f"""
default_scope = 'mmface'
model = dict(
    type='FaceRecognizer', data_preprocessor=dict(type='FaceDataPreprocessor', size=(32, 32)),
    backbone=dict(type='SevenLayerNet', out_channels=4, feat_size=4, width=4),
    head=dict(type='FaceClsHead', num_classes={PEOPLE}, in_channels=4, sharded=True, engine=dict(type='FusedEngine'),
              loss=dict(type='AdaFaceLoss', s=8.)))
train_dataloader = dict(batch_size=4, dataset=dict(type='FaceDataset', path={str(folder / 'train.rec')!r}, pipeline=[
    dict(type='DecodeFace'), dict(type='Resize', scale=(32, 32), interpolation='area'), dict(type='RandomFlip', prob=1.),
    dict(type='PackFace')]))
""")
    with DefaultScope.overwrite_default_scope('mmface'):
        for iteration in (10, 9):
            torch.manual_seed(iteration)
            described = Config.fromfile(config).model
            state = MODELS.build(dict(described, head=dict(described.head, sharded=False))).state_dict()
            torch.save(dict(meta=dict(iter=iteration, epoch=1), state_dict=state), folder / f'iter_{iteration}.pth')
    return folder


@pytest.fixture
def command(training, tmp_path):
    spec = importlib.util.spec_from_file_location('quality', ROOT / 'tools/analysis/quality.py')
    quality = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(quality)

    def run(*arguments, checkpoints=('iter_10.pth', 'iter_9.pth')):
        files = [str(training / name) for name in checkpoints]
        return quality.main([str(training / 'config.py'), '--checkpoints', *files, '--out', str(tmp_path / 'of/quality'), *arguments])

    return run


def test_images_are_those_of_the_set_without_what_is_random(training):
    config = Config.fromfile(training / 'config.py')
    samples = draw_training_samples(config, 1000)
    np.testing.assert_array_equal(samples.places, np.arange(PEOPLE * PICTURES))
    np.testing.assert_array_equal(samples.labels, np.repeat(np.arange(PEOPLE), PICTURES))
    plain = cv2.resize(cv2.imdecode(np.frombuffer(jpeg(1, 2), np.uint8), cv2.IMREAD_COLOR), (32, 32), interpolation=cv2.INTER_AREA)
    difference = samples.images[PICTURES + 2].permute(1, 2, 0).numpy()[..., ::-1].astype(int) - plain
    assert np.abs(difference).max() <= 2
    fewer = draw_training_samples(config, 7, seed=1)
    assert len(set(fewer.places.tolist())) == 7
    torch.testing.assert_close(fewer.images, samples.images[fewer.places])


@needs_brisque
def test_the_command_writes_what_each_checkpoint_says_of_each_image(command, training, tmp_path, capsys):
    assert command('--shown', '2') == 0
    printed = capsys.readouterr().out
    assert printed.index('| iter_9 | 9 |') < printed.index('| iter_10 | 10 |')
    folder = tmp_path / 'of'
    assert sorted(file.name for file in folder.iterdir()) == ['quality.csv', 'quality.png', 'quality.svg', 'quality_zones.png']
    for picture in folder.glob('*.png'):
        Image.open(picture).verify()
    rows = list(csv.DictReader((folder / 'quality.csv').open()))
    assert [row['checkpoint'] for row in rows] == ['iter_9'] * 24 + ['iter_10'] * 24
    last = rows[24:]
    column = {name: np.array([float(row[name]) for row in last]) for name in ('quality', 'norm', 'probability', 'angle_deg', 'scaling')}
    assert pearsonr(column['quality'], FACTORS == 1).statistic > .7
    assert f'| iter_10 | 10 | {pearsonr(column["norm"], column["quality"]).statistic:.4f} (' in printed
    assert ((column['probability'] > 0) & (column['probability'] < 1) & (column['scaling'] <= 0)).all()
    with DefaultScope.overwrite_default_scope('mmface'):
        model = MODELS.build(dict(Config.fromfile(training / 'config.py').model, head=None))
    model.load_state_dict(torch.load(training / 'iter_10.pth')['state_dict'], strict=False)
    images = draw_training_samples(Config.fromfile(training / 'config.py'), 24).images
    with torch.no_grad():
        norms = model.eval()((images.float() - 127.5) / 127.5).norm(dim=1)
    np.testing.assert_allclose(column['norm'], norms, rtol=1e-5)


@needs_brisque
@pytest.mark.parametrize(('checkpoint', 'options', 'message'), [
    ('iter_10.pth', ['--images', '5'], 'it takes at least 6 --images'),
    ('none.pth', [], 'none.pth'),
    ('iter_10.pth', ['--cfg-options', 'model.head.num_classes=5'], "does not fit the config's model with its head: head.weight is "),
    ('bare.pth', [], 'bare.pth does not say after how many iterations it was saved'),
    ('iter_10.pth', ['--cfg-options', 'train_dataloader=None'], 'config.py has no train_dataloader'),
    ('iter_10.pth', ['--cfg-options', 'model.head=None'], 'its model has no head, so no loss to ask'),
])
def test_bad_input_is_named(command, training, tmp_path, capsys, checkpoint, options, message):
    torch.save(dict(state_dict=dict(a=torch.zeros(1))), training / 'bare.pth')
    assert command(*options, checkpoints=[checkpoint]) == 2
    assert message in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
