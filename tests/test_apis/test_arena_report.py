"""Tables from results alone, whatever has become of the trainings."""
import hashlib
import json

import numpy as np
import pytest

from mmface.apis.arena import EXPERIMENTS, SETTINGS, identity, open_data, write_procedural
from mmface.apis.arena.figure import draw
from mmface.apis.arena.report import Reporter
from mmface.apis.arena.tables import facts_of, to_json, to_markdown
from mmface.datasets.formats import DataFormatError

SMOKE = SETTINGS['smoke']
ROWS = EXPERIMENTS['losses'](SMOKE)


@pytest.fixture(scope='module')
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp('arena') / 'data'
    write_procedural(folder, 2, 8, 10, 3)
    return open_data(folder)


@pytest.fixture
def record(data, tmp_path):
    """Writes down that a training ended, and how good its network is: 0 knows nobody."""

    def call(row: int, seed: int, quality: float | None) -> None:
        training = ROWS[row].view.recipe(seed)
        name = identity(training, data, SMOKE)
        (tmp_path / name).mkdir()
        if quality is not None:
            centres = np.random.default_rng(1).normal(size=(10, 8))[data.persons]
            noise = np.random.default_rng((row, seed)).normal(size=centres.shape)
            np.save(tmp_path / name / 'clean_1.npy', (quality * centres + noise).astype(np.float32))
        embeddings = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in (tmp_path / name).glob('*.npy')}
        status = dict(status='diverged', iterations=3, seconds=None) if quality is None else dict(
            status='finished', iterations=8, seconds=2. + seed)
        result = dict(status, identity=name, embeddings=embeddings, training=training.describe(), logs={'a.log': f'{row}{seed}' * 32},
                      machine='m', torch='t', mmface='v', threads=1)  # yapf: disable
        (tmp_path / name / 'result.json').write_text(json.dumps(result))

    return call


def table(data, folder):
    reporter = Reporter(data, SMOKE, folder)
    lines = [reporter.line(row) for row in ROWS]
    facts = facts_of(reporter, lines, 'losses')
    return lines, to_markdown(facts, lines, reporter.examiner.measures), to_json(facts, lines), reporter.examiner.measures


def test_a_diverged_seed_is_a_result_and_differences_are_over_the_seeds_that_both_finished(record, data, tmp_path):
    for seed in (0, 1, 2):
        record(0, seed, .3)
        record(1, seed, 3. if seed < 2 else None)
    (first, second), text, found, measures = table(data, tmp_path)
    assert (first.status, first.seeds, first.seconds) == ('finished', 3, 3.)
    assert (second.status, second.seeds, second.seconds) == ('diverged', 2, 2.5)
    reporter = Reporter(data, SMOKE, tmp_path)
    exams = [[reporter._exams(row.view)[seed]['accuracy'].value for seed in (0, 1)] for row in ROWS]
    assert second.differences['accuracy'].value == pytest.approx(np.subtract(*exams[::-1]).mean())
    assert second.differences['accuracy'].value > .1
    assert text.count('diverged') >= 3 and 'after 3 iterations' in text
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert len(draw([first, second], measures).axes) == 3


def test_one_shared_seed_is_no_verdict_and_the_row_says_how_many_were_compared(record, data, tmp_path):
    for seed in (0, 1, 2):
        record(0, seed, 1. if seed == 0 else None)
        record(1, seed, 3.)
    (_, second), text, _, _ = table(data, tmp_path)
    assert (second.seeds, second.compared, second.differences['accuracy'].verdict) == (3, 1, 'one seed')
    assert '| one seed | 1 of 3 |' in text and 'Nothing was compared' in text


def test_embeddings_that_are_not_those_of_the_training_are_refused(record, data, tmp_path):
    record(0, 0, 1.)
    path = next(tmp_path.glob('*/clean_1.npy'))
    np.save(path, np.load(path)[::-1])
    with pytest.raises(DataFormatError, match=r'clean_1\.npy.*not the embeddings'):
        table(data, tmp_path)


def test_what_was_not_trained_is_missing_and_everything_else_is_told(record, data, tmp_path):
    record(0, 0, 1.)
    (first, second), text, found, measures = table(data, tmp_path)
    assert (first.status, first.seeds) == ('missing', 1)
    assert (second.status, second.seeds, second.means) == ('missing', 0, {})
    assert '| P2SGrad |  |  |  | missing | 0 |  |' in text
    assert 'Nothing was compared' in text
    assert found['rows'][0]['means']['accuracy']['seeds'] is None  # no spread of one
    draw([first, second], measures)


def test_a_mean_is_a_share(record, data, tmp_path):
    for seed in (0, 1, 2):
        record(0, seed, 0.)
    line = table(data, tmp_path)[0][0]
    assert all(0 <= low <= found.value <= high <= 1 for found in line.means.values() for low, high in [found.interval])
