"""One-to-many search, against a stable sort of all cosines."""
import numpy as np
import pytest

from mmface.functional.cosine import ExactCosine
from mmface.functional.embedding_rows import EmbeddingRows
from mmface.functional.search import search


def gallery(spread=1.):
    rows = 1 - spread + spread * np.random.default_rng(0).normal(size=(300, 16))
    rows[100:140] = rows[:40]
    rows[200:210] = rows[5]
    return rows.astype(np.float32)


def probes(rows):
    near = rows[:20].astype(float)
    return near / np.linalg.norm(near, axis=1, keepdims=True)


def sorted_out(unit, rows, k):
    cosine = ExactCosine.matrix(ExactCosine.operand(unit), ExactCosine.operand(rows.unit(slice(None))))
    order = np.argsort(-cosine, axis=1, kind='stable')[:, :k]
    return np.take_along_axis(cosine, order, 1), order


@pytest.mark.parametrize('block', [{}, dict(probes=7, gallery=13), dict(gallery=1), dict(probes=1, gallery=5)])
@pytest.mark.parametrize('spread', [1, 1e-4], ids=['spread out', 'collapsed'])
def test_the_nearest_are_those_of_a_sort_and_of_equals_the_first(spread, block):
    raw = gallery(spread)
    rows = EmbeddingRows(raw, range(300))
    for k in (1, 7, 300):
        similarity, row = search(probes(raw), rows, k, **block)
        wanted = sorted_out(probes(raw), rows, k)
        np.testing.assert_array_equal(similarity, wanted[0])
        np.testing.assert_array_equal(row, wanted[1])


def test_a_gallery_that_gets_better_all_the_time_is_searched_rightly():
    raw = gallery()
    unit = probes(raw)
    raw = raw[np.argsort(raw @ unit[0])]
    rows = EmbeddingRows(raw, range(300))
    np.testing.assert_array_equal(search(unit, rows, 5, gallery=100).row, sorted_out(unit, rows, 5)[1])


def test_a_file_is_searched_as_what_it_holds(tmp_path):
    raw = gallery()
    np.save(tmp_path / 'gallery.npy', raw)
    mapped = EmbeddingRows(np.load(tmp_path / 'gallery.npy', mmap_mode='r'), range(300))
    for one, other in zip(search(probes(raw), mapped, 4), search(probes(raw), EmbeddingRows(raw, range(300)), 4), strict=True):
        np.testing.assert_array_equal(one, other)


def test_rows_count_within_the_index_and_what_is_not_there_is_said():
    raw, index = gallery(), np.array([250, 3, 7])
    similarity, row = search(probes(raw), EmbeddingRows(raw, range(300)), 5, index)
    assert row[3].tolist()[0] == 1  # image 3 itself
    assert (row[:, 3:] == -1).all() and np.isneginf(similarity[:, 3:]).all()
