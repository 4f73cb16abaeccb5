"""The metric gathers every embedding once, whatever the batches and ranks, and then leaves the numbers to the protocol."""
import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from mmface.evaluation import TenFoldVerification, VerificationMetric
from mmface.registry import METRICS
from mmface.structures import FaceDataSample

SCRIPT = Path(__file__).with_name('rank_of_metric.py')
spec = importlib.util.spec_from_file_location('rank_of_metric', SCRIPT)
toy = importlib.util.module_from_spec(spec)
spec.loader.exec_module(toy)


@pytest.fixture(scope='module')
def two_ranks(tmp_path_factory):
    folder = tmp_path_factory.mktemp('ranks')
    environment = os.environ | dict(PYTHONPATH=str(SCRIPT.parents[2]))
    ranks = [
        subprocess.Popen([sys.executable, SCRIPT, str(rank), '2', folder / 'rendezvous', folder / f'{rank}.json'], env=environment)
        for rank in range(2)
    ]
    assert [rank.wait(timeout=120) for rank in ranks] == [0, 0]
    return [json.loads((folder / f'{rank}.json').read_text()) for rank in range(2)]


def expected(flip=None):
    rows = toy.embeddings().numpy()
    result = TenFoldVerification(flip=flip)(toy.pair_set(), rows[:, 0], rows[:, 1] if flip else None)
    return {f'toy/{key}': result[key] for key in ('accuracy', 'accuracy_std', 'accuracy_se', 'auc', 'eer')}


def test_the_numbers_are_the_protocols_under_the_name_of_the_set():
    assert toy.run(range(toy.IMAGES), fars=()) == expected()
    assert toy.run(range(toy.IMAGES), fars=(), flip='add') == expected('add') != expected()
    assert set(toy.run(range(toy.IMAGES), prefix='val')) == {
        'val/accuracy', 'val/accuracy_std', 'val/accuracy_se', 'val/auc', 'val/eer'}  # 20 impostors resolve neither 1e-2 nor 1e-3


def test_tar_at_far_is_named_as_in_papers():
    assert {'toy/tar@far=1e-1', 'toy/tar@far=5e-2'} <= set(toy.run(range(toy.IMAGES), fars=(0.1, 0.05)))


def test_neither_batch_size_nor_order_matters():
    shuffled = np.random.default_rng(0).permutation(toy.IMAGES).tolist()
    for batch_size in (1, 5, 100):
        assert toy.run(shuffled, batch_size, fars=()) == expected()


def test_images_repeated_by_a_sampler_count_once():
    assert toy.run([*range(toy.IMAGES), 0, 1], fars=()) == expected()


@pytest.mark.parametrize('case', ['interleaved', 'other_order', 'all_on_last'])
def test_two_ranks_give_the_numbers_of_one(two_ranks, case):
    assert two_ranks[0][case] == two_ranks[1][case] == expected()


def test_mirrored_embeddings_are_gathered_too(two_ranks):
    assert two_ranks[0]['flip'] == expected('add')


def test_an_error_is_raised_on_every_rank(two_ranks):
    for rank in two_ranks:
        assert '2 of 23 images have no embedding, the first: 4.jpg, 7.jpg' in rank['missing']
        assert 'image 0 (0.jpg) came with two different embeddings' in rank['different']


def test_a_missing_or_foreign_image_is_an_error():
    with pytest.raises(ValueError, match=r'1 of 23 images have no embedding, the first: 22\.jpg'):
        toy.run(range(22))
    with pytest.raises(ValueError, match='sample_idx 23, but there are 23 images'):
        toy.run([*range(23), 23], rows=torch.ones(24, 2, 8))
    with pytest.raises(ValueError, match='23 of 23 images have no embedding'):
        toy.run([])


def test_rounding_of_another_batch_is_not_another_image():
    rows = toy.embeddings().repeat(2, 1, 1)
    metric = VerificationMetric(fars=())
    metric.dataset_meta = dict(pair_set=toy.pair_set())
    for at, row in enumerate(rows):
        metric.process(None, [dict(sample_idx=torch.tensor([at % 23]), embedding=row[0] * (1 + 1e-3 * (at > 22)))])
    assert metric.evaluate(23) == expected()


def test_an_evaluation_leaves_nothing_behind():
    metric = VerificationMetric()
    metric.dataset_meta = dict(pair_set=toy.pair_set())
    metric.process(None, [dict(sample_idx=torch.tensor([0]), embedding=torch.ones(8))])
    for _ in range(2):
        with pytest.raises(ValueError, match='images have no embedding'):
            metric.evaluate(23)
    assert metric.results == []


def test_samples_without_what_is_needed_are_refused():
    with pytest.raises(ValueError, match=r"needs samples with \['mirrored_embedding'\]"):
        VerificationMetric(flip='add').process(None, [dict(sample_idx=torch.tensor([0]), embedding=torch.ones(8))])


def test_a_data_set_without_pairs_is_refused():
    metric = VerificationMetric()
    metric.dataset_meta = dict(classes=())
    metric.process(None, [dict(sample_idx=torch.tensor([0]), embedding=torch.ones(8))])
    with pytest.raises(ValueError, match=r"metainfo has 'pair_set', got \['classes'\]"):
        metric.evaluate(1)


def test_scores_for_pictures_are_written(tmp_path):
    toy.run(range(toy.IMAGES), scores_file=str(tmp_path / 'new/scores.npz'))
    with np.load(tmp_path / 'new/scores.npz', allow_pickle=False) as scores:
        rows = toy.embeddings().numpy()[:, 0]
        np.testing.assert_array_equal(scores['similarity'], TenFoldVerification().similarity(toy.pair_set(), rows))
        np.testing.assert_array_equal(scores['same'], toy.pair_set().same)
        np.testing.assert_array_equal(scores['fold'], toy.pair_set().fold)


def test_mmengines_evaluator_runs_it_from_a_config():
    from mmengine.evaluator import Evaluator
    evaluator = Evaluator([METRICS.build(dict(type='VerificationMetric', fars=()))])
    evaluator.dataset_meta = dict(pair_set=toy.pair_set())
    rows = toy.embeddings()
    evaluator.process([FaceDataSample(sample_idx=torch.tensor([i]), embedding=rows[i, 0]) for i in range(toy.IMAGES)])
    assert evaluator.evaluate(toy.IMAGES) == expected()
