"""What crosses package borders."""
import numpy as np
import pytest
import torch

from mmface.structures import FaceDataSample, PairSet, SearchSet, TemplateList, TemplateSet


def sample(i: int, **more) -> FaceDataSample:
    return FaceDataSample(gt_label=torch.tensor([i]), sample_idx=torch.tensor([100 + i]), **more)


def test_batch_joins_and_split_undoes_it():
    samples = [sample(i, embedding=torch.full((3, ), float(i))) for i in range(4)]
    batch = FaceDataSample.batch(samples)
    assert batch.gt_label.tolist() == [0, 1, 2, 3]
    assert batch.embedding.shape == (4, 3)
    for one, again in zip(samples, batch.split(), strict=True):
        assert set(one.keys()) == set(again.keys())
        assert all(torch.equal(one.get(k), again.get(k)) for k in set(one.keys()))


def test_a_batch_is_its_own_batch():
    batch = FaceDataSample.batch([sample(0), sample(1)])
    assert FaceDataSample.batch(batch) is batch


def test_samples_with_different_fields_are_refused():
    with pytest.raises(ValueError, match='sample 1 has'):
        FaceDataSample.batch([sample(0), FaceDataSample(gt_label=torch.tensor([1]))])
    with pytest.raises(ValueError, match='empty'):
        FaceDataSample.batch([])


def pair_set(**changed) -> PairSet:
    fields = dict(name='toy', paths=['a', 'b', 'c'], pairs=[[0, 1], [1, 2]], same=[True, False], fold=[0, 1])
    return PairSet(**{**fields, **changed})


def test_a_pair_set_holds_arrays_of_the_declared_types():
    pairs = pair_set()
    assert len(pairs) == 2
    assert (pairs.pairs.dtype, pairs.same.dtype, pairs.fold.dtype) == (np.int64, bool, np.int64)


@pytest.mark.parametrize(('changed', 'message'), [
    (dict(pairs=[[0, 1], [1, 3]]), r'pair 1 names the images \[1, 3\]'),
    (dict(pairs=np.empty((0, 2))), 'non-empty'),
    (dict(same=[True]), '2 pairs need as many'),
    (dict(fold=[0, -1]), 'pair 1 has the fold -1'),
    (dict(identities=['x']), '3 images but 1 identities'),
    (dict(groups=['x']), '3 images but 1 groups'),
])
def test_a_pair_set_that_contradicts_itself_is_refused(changed, message):
    with pytest.raises(ValueError, match=message):
        pair_set(**changed)


def template_set(**changed) -> TemplateSet:
    fields = dict(name='ijb', paths=['a', 'b', 'c'], template=[7, 7, -2], media=[1, 2, 3], pairs=[[7, -2]], same=[True])
    return TemplateSet(**{**fields, **changed})


def test_each_row_of_a_template_set_is_an_image_unless_it_is_said_which():
    assert template_set().image.tolist() == [0, 1, 2]
    assert template_set(image=[2, 2, 0]).image.tolist() == [2, 2, 0]


@pytest.mark.parametrize(('changed', 'message'), [
    (dict(media=[1, 2]), r'media has \(2,\)'),
    (dict(det_score=[1.]), r'det_score has \(1,\)'),
    (dict(template=[1, 2]), 'template has the shape'),
    (dict(image=[0, 1, 3]), 'row 2 is image 3'),
    (dict(same=[]), r'pairs must be \[P, 2\]'),
    (dict(landmarks=np.zeros((3, 10))), r'need landmarks \[3, 5, 2\]'),
])
def test_a_template_set_that_contradicts_itself_is_refused(changed, message):
    with pytest.raises(ValueError, match=message):
        template_set(**changed)


def test_a_template_is_in_a_list_once():
    assert len(TemplateList([5, -1], [1, 1])) == 2
    with pytest.raises(ValueError, match='template 5 occurs 2 times'):
        TemplateList([5, -1, 5], [1, 2, 1])
    with pytest.raises(ValueError, match='as many subjects'):
        TemplateList([5], [1, 2])


def search_set(**changed) -> SearchSet:
    fields = dict(name='tiny', paths=['a', 'b', 'c', 'd'], probe=[0], gallery=[1, 2], distractor=[3], ids=[4, 4, 5, -100])
    return SearchSet(**{**fields, **changed})


@pytest.mark.parametrize(('changed', 'message'), [
    (dict(probe=[4]), 'probe 0 is image 4'),
    (dict(gallery=[1, 1]), 'gallery names an image twice'),
    (dict(ids=[1]), 'ids needs 4 entries'),
    (dict(condition=['near', 'far']), 'condition needs 1 entries'),
    (dict(noisy=[True]), 'noisy needs 4 entries'),
])
def test_a_search_set_that_contradicts_itself_is_refused(changed, message):
    assert search_set().noisy is None
    with pytest.raises(ValueError, match=message):
        search_set(**changed)
