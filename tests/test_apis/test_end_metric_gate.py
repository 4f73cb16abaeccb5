"""The gate that asks whether an exported network still verifies faces."""
import numpy as np
import pytest

from mmface.apis.end_metric_gate import EndMetricGate
from mmface.evaluation import TenFoldVerification
from mmface.export import GateError
from mmface.structures import PairSet

PEOPLE, EACH = 120, 4


def faces(pairs: int = 1200, seed: int = 0):
    """People as colours, sharp in red and noisy in blue: a network that trusts red needs the right channel order."""
    rng = np.random.default_rng(seed)
    colours = rng.integers(60, 196, (PEOPLE, 1, 2, 2, 3))
    images = np.clip(colours + rng.normal(0, [16, 30, 60], (PEOPLE, EACH, 2, 2, 3)), 0, 255).astype(np.uint8).reshape(-1, 2, 2, 3)
    same = np.arange(pairs) % 2 == 0
    first = rng.integers(0, len(images), pairs)
    mate = first // EACH * EACH + (first + rng.integers(1, EACH, pairs)) % EACH
    other = (first + EACH * rng.integers(1, PEOPLE, pairs)) % len(images)
    names = [f'{i}' for i in range(len(images))]
    return PairSet('colours', names, np.stack([first, np.where(same, mate, other)], 1), same, np.arange(pairs) * 10 // pairs), images


WEIGHTS = np.array([3., 1., .2])


def network(noise: float = 0., seed: int = 0):
    rng = np.random.default_rng(seed)

    def embed(images):
        flat = ((images / 127.5 - 1) * WEIGHTS).reshape(len(images), -1)
        return [flat + noise * rng.normal(size=flat.shape)]

    return embed


def test_a_faithful_export_passes_with_its_numbers():
    pairs, images = faces()
    record = EndMetricGate(pairs, images)(network(), network(1e-6))
    result = TenFoldVerification(fars=(1e-3, ))(pairs, network()(images)[0])
    assert record['accuracy']['before'] == pytest.approx(result['accuracy'], abs=1e-12)
    assert abs(record['accuracy']['drop']) < .003
    assert record['d_prime']['swapped'] < record['d_prime']['before'] == pytest.approx(record['d_prime']['after'], rel=1e-4)
    assert (record['genuine'], record['impostors']) == (600, 600)
    assert 'tar' not in record  # 600 impostors cannot resolve 1e-3


def test_tar_is_compared_where_it_can_be_resolved():
    pairs, images = faces()
    gate = EndMetricGate(pairs, images, far=1e-2)
    result = TenFoldVerification(fars=(1e-2, ))(pairs, network()(images)[0])
    assert gate(network(), network())['tar']['before'] == result['tar_at_far'][0]['tar']


def test_an_export_that_lost_accuracy_is_named_with_the_pairs_it_lost():
    pairs, images = faces()
    with pytest.raises(GateError, match=r'colours: accuracy fell from 9\d\.\d+% to \d\d\.\d+% \(\d+ pairs lost'):
        EndMetricGate(pairs, images)(network(), network(.8))


def test_a_loss_that_is_allowed_in_size_is_still_refused_where_chance_does_not_explain_it():
    pairs, images = faces(6000)
    gate = EndMetricGate(pairs, images, max_drop=.5)
    with pytest.raises(GateError, match='no more than chance'):
        gate(network(), network(.5))


def test_a_set_on_which_a_red_blue_swap_does_not_show_is_refused_with_the_number_of_pairs_needed():
    pairs, images = faces(200)
    grey = np.repeat(images.mean(3, keepdims=True), 3, 3).astype(np.uint8)
    grey[..., 0] += images[..., 0] // 64  # a hint of colour
    with pytest.raises(GateError, match=r"d' changes by .* needs about [\d,]+ pairs"):
        EndMetricGate(pairs, grey)(network(), network())


def test_a_set_too_small_for_its_standard_errors_is_refused_although_the_swap_shows():
    with pytest.raises(GateError, match=r'99 genuine and 99 impostor pairs: too few .* at least 100 of each'):
        EndMetricGate(*faces(198))(network(), network())
    assert EndMetricGate(*faces(200))(network(), network())['genuine'] == 100


def test_the_set_and_the_images_have_to_belong_together():
    pairs, images = faces()
    with pytest.raises(ValueError, match='480 images are needed, got 479'):
        EndMetricGate(pairs, images[:-1])
