"""Averages over sets, and what is no average."""
import pytest

from mmface.evaluation.averages import high_quality_average, low_quality_average

HIGH = dict(LFW=0.998, cfp_fp=0.99, CPLFW=0.94, agedb_30=0.97, calfw=0.96)


def test_the_high_quality_average_is_over_five_sets_and_no_others():
    results = [dict(set=name, accuracy=value) for name, value in (HIGH | dict(cfp_ff=0.1, xqlfw=0.2, agedb_5=0.3)).items()]
    found = high_quality_average(results)
    assert found['value'] == pytest.approx((0.998 + 0.99 + 0.94 + 0.97 + 0.96) / 5)
    assert found['of'] == dict(lfw=0.998, cfp_fp=0.99, cplfw=0.94, agedb_30=0.97, calfw=0.96)
    assert found['average'] == 'high_quality'


@pytest.mark.parametrize('missing', HIGH)
def test_there_is_no_average_without_all_sets(missing):
    assert high_quality_average([dict(set=name, accuracy=value) for name, value in HIGH.items() if name != missing]) is None
    without = [dict(set=name) | (dict(accuracy=value) if name != missing else {}) for name, value in HIGH.items()]
    assert high_quality_average(without) is None


def part(rank1, strict, adaface):
    points = lambda tpir: [dict(fpir_target=0.01, tpir=tpir), dict(fpir_target=0.1, tpir=1.)]  # noqa: E731
    return dict(rank1=rank1, tpir_at_fpir=points(strict), adaface=dict(tpir_at_fpir=points(adaface)))


def test_the_low_quality_average_is_over_two_rates_of_three_protocols():
    ijbs = dict(set='ijbs', surveillance_to_single=part(.7, .5, .4), surveillance_to_booking=part(.6, .5, .3),
                surveillance_to_surveillance=part(.4, .2, .1), uav_surveillance_to_booking=part(0, 0, 0))
    found = low_quality_average([dict(set='lfw', accuracy=1), ijbs])
    assert found['value'] == pytest.approx((.7 + .4 + .6 + .3 + .4 + .1) / 6)
    assert found['average'] == 'low_quality_adaface'
    assert low_quality_average([ijbs], 'strict')['value'] == pytest.approx((.7 + .5 + .6 + .5 + .4 + .2) / 6)
    assert len(found['of']) == 6
    del ijbs['surveillance_to_booking']
    assert low_quality_average([ijbs]) is None


def test_another_fpir_makes_no_average():
    one = part(.7, .5, .4)
    del one['adaface']['tpir_at_fpir'][0]
    names = ('surveillance_to_single', 'surveillance_to_booking', 'surveillance_to_surveillance')
    assert low_quality_average([dict(set='ijbs', **dict.fromkeys(names, one))]) is None
