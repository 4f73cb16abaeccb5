"""IJB-S against the reference, with both ways of counting templates that have no face."""
import json
from dataclasses import replace

import numpy as np
import pytest

from mmface.datasets import open_eval
from mmface.evaluation import IJBSIdentification
from mmface.evaluation.protocols.ijbs_identification import PARTS

FPIRS = (0.01, 0.1, 0.3)
POLICIES = dict(zero='zero', reject='fte')  # ours and the reference's


@pytest.fixture(scope='module')
def ijbs(shared):
    folder = shared / 'reference/fixtures/ijb'
    expected = json.loads((folder / 'expected.json').read_text())['ijbs']['protocols']
    return open_eval(folder / 'IJBS'), np.load(folder / 'IJBS/embeddings.npy', allow_pickle=False), expected


@pytest.fixture(scope='module')
def results(ijbs):
    return {policy: IJBSIdentification(failure_to_enrol=policy, fpirs=FPIRS)(*ijbs[:2]) for policy in POLICIES}


def test_the_five_are_those_of_the_reference(ijbs):
    assert set(PARTS) == set(ijbs[2])


@pytest.mark.parametrize('policy', POLICIES)
@pytest.mark.parametrize('part', PARTS)
def test_ranks_and_open_set_rates_are_those_of_the_reference(ijbs, results, part, policy):
    found, want = results[policy][part], ijbs[2][part]
    assert found['probes'] == want['probes']
    for rank, rate in want[POLICIES[policy]]['closed_rank'].items():
        assert found[f'rank{rank}'] == rate
    for at, fpir in enumerate(FPIRS):
        assert found['tpir_at_fpir'][at]['tpir'] == pytest.approx(want[POLICIES[policy]]['open_mean'][str(fpir)], rel=0, abs=1e-12)
        for gallery, rates in zip(found['galleries'].values(), want[POLICIES[policy]]['open_per_gallery'], strict=True):
            assert gallery['tpir_at_fpir'][at]['tpir'] == rates[str(fpir)]


def test_the_papers_rule_loses_mates_where_the_reference_says_so(results):
    for part, strict, peer in (('surveillance_to_booking', .4524, .2381), ('surveillance_to_single', .2857, .1429)):
        found = results['zero'][part]
        assert found['tpir_at_fpir'][1]['tpir'] == pytest.approx(strict, abs=5e-5)
        for rule in ('adaface', 'pfe'):
            assert found[rule]['tpir_at_fpir'][1]['tpir'] == pytest.approx(peer, abs=5e-5)
    for part in set(PARTS) - {'surveillance_to_booking', 'surveillance_to_single'}:
        for at in (0, 1):
            assert results['zero'][part]['adaface']['tpir_at_fpir'][at]['tpir'] == results['zero'][part]['tpir_at_fpir'][at]['tpir']


def test_templates_without_a_face_have_to_be_decided_about(ijbs):
    with pytest.raises(ValueError, match=r"template \d+ has no image.*failure_to_enrol='zero' or 'reject'"):
        IJBSIdentification()(*ijbs[:2])


def test_a_set_without_a_list_is_refused(ijbs):
    template_set, embeddings, _ = ijbs
    for field, name in (('probes', 'uav'), ('galleries', 'booking_g2')):
        lists = {key: value for key, value in getattr(template_set, field).items() if key != name}
        with pytest.raises(ValueError, match=f'ijbs has no list {name}'):
            IJBSIdentification(failure_to_enrol='zero')(replace(template_set, **{field: lists}), embeddings)


def test_the_fingerprint_follows_every_switch(results):
    switches = [dict(), dict(keep_norm=False), dict(flip='add'), dict(pooling='media'), dict(failure_to_enrol='zero'), dict(ranks=(1, )),
                dict(fpirs=(0.1, ))]
    assert len({IJBSIdentification(**switch).hash for switch in switches}) == len(switches)
    assert json.loads(json.dumps(results['reject']))['set'] == 'ijbs'
