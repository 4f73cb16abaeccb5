"""The error-versus-reject curve."""
import numpy as np
import pytest

from mmface.functional.rejection import error_by_rejection


@pytest.fixture
def comparisons():
    rng = np.random.default_rng(3)
    return rng.normal(size=60), rng.integers(1, 9, 60).astype(float)  # qualities repeat


def test_each_point_is_the_error_of_those_of_that_quality_or_better(comparisons):
    similarity, quality = comparisons
    rejected, error = error_by_rejection(similarity, quality, .2)
    expected = []
    for least in sorted(set(quality)):
        stay = [s for s, q in zip(similarity, quality, strict=True) if q >= least]
        expected.append((1 - len(stay) / 60, sum(s < .2 for s in stay) / len(stay)))
    np.testing.assert_allclose(np.transpose([rejected, error]), expected, rtol=1e-12, atol=1e-12)


def test_a_perfect_measure_rejects_the_errors_first():
    similarity = np.array([.1, .9, .2, .8])
    rejected, error = error_by_rejection(similarity, similarity, .5)
    assert rejected.tolist() == [0, .25, .5, .75]
    np.testing.assert_allclose(error, [.5, 1 / 3, 0, 0])


@pytest.mark.parametrize(('similarity', 'quality'), [([], []), ([1.], [np.nan]), ([1., 2.], [1.])])
def test_what_has_no_curve_is_refused(similarity, quality):
    with pytest.raises(ValueError, match='finite quality'):
        error_by_rejection(np.array(similarity), np.array(quality), 0.)
