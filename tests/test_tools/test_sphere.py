"""The toy experiment: people on a sphere."""
import csv
import importlib.util
from pathlib import Path

import numpy as np
import pytest

from mmface.apis.lab.sphere_experiment import draw_people, train_on_sphere

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope='module')
def people():
    return draw_people(3, 12, seed=0)


def test_a_result_is_what_its_vectors_say(people):
    images, labels = people
    found = train_on_sphere(dict(type='CosFaceLoss', s=16., m=.1), images, labels, steps=60)
    np.testing.assert_allclose(np.linalg.norm(found.embeddings, axis=1), 1)
    np.testing.assert_allclose(np.linalg.norm(found.prototypes, axis=1), 1)
    cosine = found.embeddings @ found.prototypes.T
    assert found.accuracy == np.mean(cosine.argmax(1) == labels.numpy())
    assert found.own_angle == pytest.approx(np.degrees(np.arccos(cosine[np.arange(36), labels])).mean())
    pairs = [found.prototypes[a] @ found.prototypes[b] for a, b in ((0, 1), (0, 2), (1, 2))]
    assert found.separation == pytest.approx(np.degrees(np.arccos(max(pairs))))
    assert found.accuracy > .6
    assert 0 <= found.equal_error < .4


def test_the_same_seed_gives_the_same(people):
    first, second = (train_on_sphere(dict(type='P2SGradLoss'), *people, steps=5) for _ in range(2))
    np.testing.assert_array_equal(first.embeddings, second.embeddings)


def test_the_command_draws_and_counts(tmp_path, capsys):
    spec = importlib.util.spec_from_file_location('sphere', ROOT / 'tools/analysis/sphere.py')
    sphere = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(sphere)
    options = '--people', '2', '--pictures', '4', '--steps', '2', '--out', str(tmp_path / 'sphere')
    assert sphere.main(['--losses', 'CosFaceLoss', 'P2SGradLoss', *options]) == 0
    assert capsys.readouterr().out.count('\n| ') == 2
    rows = list(csv.DictReader((tmp_path / 'sphere.csv').open()))
    assert [row['what'] for row in rows].count('embedding') == 16
    assert {row['loss'] for row in rows} == {'CosFaceLoss', 'P2SGradLoss'}
    assert (tmp_path / 'sphere.svg').is_file()
    assert sphere.main(['--people', '1']) == 2
