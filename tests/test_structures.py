"""What crosses package borders."""
import numpy as np
import pytest
import torch

from mmface.structures import FaceDataSample, PairSet


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
])
def test_a_pair_set_that_contradicts_itself_is_refused(changed, message):
    with pytest.raises(ValueError, match=message):
        pair_set(**changed)
