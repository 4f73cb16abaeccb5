"""Pictures: what is drawn is what was counted, and nothing global is touched."""
import subprocess
import sys

import cv2
import numpy as np
import pytest

from mmface.functional.intervals import wilson_interval
from mmface.functional.operating_point import tar_at_far
from mmface.functional.roc import roc_curve
from mmface.visualization import (
    draw_cmc,
    draw_det,
    draw_fold_accuracy,
    draw_pair_strip,
    draw_roc,
    draw_similarities,
    new_axes,
    new_figure,
    pairs_to_show,
    save_figure,
    verification_picture,
)


def some_scores(genuine=40, impostors=60):
    random = np.random.default_rng(0)
    return random.normal(0.5, 0.2, genuine), random.normal(0.1, 0.2, impostors)


def some_faces(count):
    return list(np.random.default_rng(1).integers(0, 256, (count, 16, 16, 3), dtype=np.uint8))


def axes():
    return new_axes(new_figure(4, 3), 'title', 'x', 'y')


def legend(drawn):
    return [text.get_text() for text in drawn.get_legend().get_texts()]


def test_every_point_of_the_curve_is_a_step_of_the_roc():
    drawn, roc = axes(), roc_curve(*some_scores())
    draw_roc(drawn, roc, far=0.1)
    for far, tar in zip(*drawn.lines[0].get_data(), strict=True):
        assert tar == tar_at_far(roc, far).tar
    assert f'TAR {tar_at_far(roc, 0.1).tar:.1%} at FAR 1e-1' in legend(drawn)


def test_the_band_is_wilsons_interval():
    drawn, roc = axes(), roc_curve(*some_scores())
    draw_roc(drawn, roc)
    heights = drawn.collections[0].get_paths()[0].vertices[:, 1]
    for tar in drawn.lines[0].get_ydata():
        assert set(wilson_interval(round(tar * roc.genuine), roc.genuine)) <= set(heights)


def test_a_curve_of_a_million_impostors_is_drawn_in_a_thousand_steps_that_still_count_right():
    random = np.random.default_rng(0)
    drawn, roc = axes(), roc_curve(random.normal(3, 1, 2000), random.normal(0, 1, 1_000_000))
    draw_roc(drawn, roc)
    x, y = drawn.lines[0].get_data()
    assert 500 < len(x) <= 1001
    for far, tar in list(zip(x, y, strict=True))[::50]:
        assert tar == tar_at_far(roc, far).tar


def test_a_det_shows_what_was_never_missed_at_half_of_one_miss():
    genuine, impostor = some_scores()
    drawn = axes()
    draw_det(drawn, roc_curve(np.append(genuine, 2.), impostor))
    miss = drawn.lines[0].get_ydata()
    assert miss.min() == .5 / (len(genuine) + 1)
    assert miss[0] == np.mean(np.append(genuine, 2.) <= impostor.max())  # at no false match
    assert (np.diff(miss) <= 0).all()


def test_a_cmc_counts_the_mates_within_each_rank():
    drawn = axes()
    draw_cmc(drawn, [2, 2, 3, 3, 3], 4)
    np.testing.assert_allclose(drawn.lines[0].get_ydata(), [.5, .5, .75, .75, .75])


def test_histograms_count_what_is_on_the_wrong_side():
    drawn = axes()
    genuine, impostor = np.array([0.9, 0.5, 0.2]), np.array([0.5, 0.1])
    draw_similarities(drawn, genuine, impostor, threshold=0.5)
    assert legend(drawn) == ['two persons: 2 pairs, 1 on the wrong side', 'one person: 3 pairs, 1 on the wrong side', 'threshold 0.500']


def test_scores_that_are_all_equal_can_be_drawn():
    draw_similarities(axes(), np.full(3, 0.5), np.full(3, 0.5), threshold=0.5)


def test_folds_are_drawn_with_mean_and_standard_error():
    drawn = axes()
    draw_fold_accuracy(drawn, [0.9, 0.8, 1.0])
    np.testing.assert_array_equal(drawn.lines[1].get_ydata(), [0.9, 0.8, 1.0])
    assert legend(drawn) == ['mean 90.00% ± 5.77% (standard error)']  # 0.1 / sqrt(3)


def test_the_strip_shows_easy_and_hard_pairs_of_both_kinds():
    similarity, same = np.array([0.9, 0.1, 0.5, 0.8, 0.3, -0.2, 0.7]), np.array([1, 0, 1, 1, 0, 0, 0], bool)
    assert pairs_to_show(similarity, same, 4).tolist() == [0, 2, 5, 6]
    assert sorted(pairs_to_show(similarity, same, 100).tolist()) == list(range(7))


def test_wrong_decisions_stand_out():
    figure = new_figure(4, 3)
    draw_pair_strip(figure, some_faces(4), some_faces(4), [0.5, 0.4, 0.5, 0.4], [True, True, False, False], threshold=0.5)
    below = [cell.xaxis.label for cell in figure.axes[4:]]
    verdicts = ['one person\naccepted', 'one person\nrejected', 'two persons\naccepted', 'two persons\nrejected']
    assert [label.get_text() for label in below] == verdicts
    assert [label.get_bbox_patch() is not None for label in below] == [False, True, True, False]


def test_a_whole_result_becomes_one_picture(tmp_path):
    genuine, impostor = some_scores()
    similarity, same = np.concatenate([genuine, impostor]), np.arange(100) < 40
    shown = pairs_to_show(similarity, same, 6)
    figure = verification_picture(similarity, same, 0.3, some_faces(6), some_faces(6), shown, 'toy: 85 %')
    image = cv2.imread(str(save_figure(figure, tmp_path / 'new/picture.png')))
    assert image.shape[1] == 11 * 150
    assert image.std() > 10


def test_a_picture_of_unusable_scores_is_refused():
    with pytest.raises(ValueError, match='no impostor scores'):
        verification_picture(np.ones(2), np.ones(2, bool), 0.3, [], [], [], '')


def test_pyplot_is_never_imported():
    code = 'import sys, mmface.visualization; sys.exit("matplotlib.pyplot" in sys.modules)'
    assert subprocess.run([sys.executable, '-c', code], check=False).returncode == 0
