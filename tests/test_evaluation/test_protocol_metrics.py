"""The metrics of templates and searches: the protocol's numbers, whatever the batches and ranks."""
import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from mmface.evaluation import (
    IJBSIdentification,
    SearchMetric,
    TemplateIdentification,
    TemplateMetric,
    TemplateVerification,
    TinyFaceIdentification,
)
from mmface.evaluation.metrics.main_numbers import main_numbers, unresolved
from mmface.registry import METRICS

SCRIPT = Path(__file__).with_name('rank_of_protocol_metrics.py')
spec = importlib.util.spec_from_file_location('rank_of_protocol_metrics', SCRIPT)
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


def results():
    plain, mirrored = toy.embeddings().numpy().transpose(1, 0, 2)
    verification = TemplateVerification(use_det_score=False, fars=(0.1, 0.3))(toy.template_set(), plain, mirrored)
    identification = TemplateIdentification(use_det_score=False, flip=None, ranks=(1, 2), fpirs=(0.5, ))(toy.template_set(), plain)
    tinyface = TinyFaceIdentification(flip='add')(toy.search_set(), plain, mirrored)
    return dict(verification=verification, identification=identification, tinyface=tinyface)


def expected():
    names = dict(verification='toy', identification='toy', tinyface='small')
    return {kind: {f'{names[kind]}/{key}': value for key, value in main_numbers(result).items()} for kind, result in results().items()}


@pytest.mark.parametrize('name', toy.METRICS)
def test_the_numbers_are_the_protocols_whatever_the_batches_and_the_order(name):
    shuffled = np.random.default_rng(0).permutation(toy.IMAGES).tolist()
    for batch_size in (1, 5, 100):
        assert toy.run(name, [*shuffled, 0], batch_size) == expected()[name]


@pytest.mark.parametrize('name', toy.METRICS)
def test_two_ranks_give_the_numbers_of_one(two_ranks, name):
    for rank in two_ranks:
        for case in ('interleaved', 'all_on_last', 'other_order'):
            assert rank[name][case] == expected()[name]


def test_an_error_is_raised_on_every_rank(two_ranks):
    for rank in two_ranks:
        assert '2 of 31 images have no embedding, the first: 4.jpg, 7.jpg' in rank['missing']
        assert 'the embedding of image 9 (9.jpg) is not finite' in rank['broken']


def test_numbers_are_named_as_in_papers_and_details_stay_in_the_result():
    assert set(main_numbers(results()['verification'])) == {'auc', 'eer', 'tar@far=1e-1', 'tar@far=3e-1', 'nearest/tar@far=1e-1',
                                                            'nearest/tar@far=3e-1'}
    assert set(main_numbers(results()['identification'])) == {
        'rank1', 'rank2', 'tpir@fpir=5e-1', 'ijb_evals/tpir@fpir=5e-1', 'combined/rank1', 'combined/rank2',
        'combined/ijb_1n/tpir@fpir=5e-1'}
    assert set(main_numbers(results()['tinyface'])) == {'rank1', 'rank5', 'rank20', 'mAP', 'mAP_step'}


def test_what_the_trials_cannot_resolve_is_left_out_and_named():
    plain, mirrored = toy.embeddings().numpy().transpose(1, 0, 2)
    result = TemplateVerification(fars=(0.1, 1e-6))(toy.template_set(), plain, mirrored)
    assert unresolved(result) == ['tar@far=1e-6', 'nearest/tar@far=1e-6']
    assert not set(unresolved(result)) & set(main_numbers(result))


def test_a_config_names_protocol_preset_and_switches(tmp_path):
    metric = METRICS.build(dict(type='TemplateMetric', protocol='TemplateVerification', preset='cvlface', flip=None, fars=(0.1, ),
                                result_file=str(tmp_path / 'new/ijbc.json')))
    assert metric.protocol.hash == TemplateVerification(keep_norm=False, use_det_score=True, flip=None, fars=(0.1, )).hash
    metric.dataset_meta = dict(template_set=toy.template_set())
    for i, rows in enumerate(toy.embeddings()):
        metric.process(None, [dict(sample_idx=torch.tensor([i]), embedding=rows[0])])
    metric.evaluate(toy.IMAGES)
    assert json.loads((tmp_path / 'new/ijbc.json').read_text())['protocol_hash'] == metric.protocol.hash
    assert isinstance(TemplateMetric('IJBSIdentification', failure_to_enrol='zero').protocol, IJBSIdentification)


def test_unknown_names_list_the_known_ones():
    with pytest.raises(ValueError, match="no protocol 'TinyFace', it has MegaFaceIdentification, SCfaceIdentification, TinyFaceId"):
        SearchMetric('TinyFace')
    with pytest.raises(ValueError, match="no preset 'arcface', known: insightface, adaface, cvlface, magface"):
        TemplateMetric(preset='arcface')


def test_a_data_set_of_another_kind_is_refused():
    metric = SearchMetric('TinyFaceIdentification')
    metric.dataset_meta = dict(template_set=toy.template_set())
    metric.process(None, [dict(sample_idx=torch.tensor([0]), embedding=torch.ones(8))])
    with pytest.raises(ValueError, match=r"metainfo has 'search_set', got \['template_set'\]"):
        metric.evaluate(1)
