"""Several sets as one: images of each, labels apart, the contracts of one set."""
import pickle

import pytest
import torch
from torch.utils.data import DataLoader

from mmface.datasets import ClassAwareSampler, ConcatDataset, DataFormatError, FaceDataset, FaceSampler, face_collate
from mmface.registry import DATASETS

FLIP = [dict(type='DecodeFace'), dict(type='RandomFlip', prob=.5), dict(type='PackFace')]
PLAIN = [dict(type='DecodeFace'), dict(type='PackFace')]


@pytest.fixture
def folder(tree):
    return tree('x/1.jpg', 'x/2.jpg', 'y/1.jpg')


def configs(small_rec, folder, pipeline=None) -> list[dict]:
    return [dict(path=str(small_rec), pipeline=pipeline or PLAIN), dict(type='FaceDataset', path=str(folder), pipeline=pipeline or PLAIN)]


def test_labels_of_later_sets_count_on_and_places_are_those_of_the_whole(small_rec, folder):
    dataset = DATASETS.build(dict(type='ConcatDataset', datasets=configs(small_rec, folder)))
    assert len(dataset) == 18
    assert dataset.metainfo == dict(num_classes=7)
    assert dataset.labels.tolist() == [*dataset.datasets[0].labels.tolist(), 5, 5, 6]
    batch = face_collate(dataset.__getitems__([(0, 16), (0, 0), (0, 17), (0, 14)]))
    assert batch['data_samples'].gt_label.tolist() == [5, 0, 6, 4]
    assert batch['data_samples'].sample_idx.tolist() == [16, 0, 17, 14]
    assert 'source' not in batch['data_samples']
    for row, (which, inner) in enumerate([(1, 1), (0, 0), (1, 2), (0, 14)]):
        assert torch.equal(batch['inputs'][row], dataset.datasets[which][inner]['inputs'])
    assert torch.equal(dataset[17]['inputs'], batch['inputs'][2])
    with pytest.raises(IndexError):
        dataset[18]


def test_separate_label_spaces_keep_labels_and_say_which_set(small_rec, folder):
    dataset = ConcatDataset(configs(small_rec, folder), label_spaces='separate')
    batch = face_collate(dataset.__getitems__([(0, 16), (0, 14)]))
    assert batch['data_samples'].gt_label.tolist() == [0, 4]
    assert batch['data_samples'].source.tolist() == [1, 0]
    assert face_collate([dataset[16], dataset[14]])['data_samples'].source.tolist() == [1, 0]
    assert dataset.metainfo == dict(num_classes=[5, 2])
    assert len(set(dataset.labels.tolist())) == 7, 'for samplers people stay apart'


def test_names_of_classes_are_kept_where_all_sets_have_them(folder, small_rec):
    twice = [dict(path=str(folder), pipeline=PLAIN)] * 2
    assert ConcatDataset(twice).metainfo['classes'] == {'0/x': 0, '0/y': 1, '1/x': 2, '1/y': 3}
    assert ConcatDataset(twice, label_spaces='separate').metainfo['classes'] == [{'x': 0, 'y': 1}] * 2


def test_a_sample_depends_on_seed_epoch_and_place_in_the_whole_alone(small_rec, folder):
    first, second = (ConcatDataset(configs(small_rec, folder, FLIP), seed=seed) for seed in (0, 1))
    one = [first[2, at]['inputs'] for at in range(18)]
    assert all(torch.equal(first[2, at]['inputs'], one[at]) for at in reversed(range(18)))
    assert not all(torch.equal(second[2, at]['inputs'], one[at]) for at in range(18))
    loader = DataLoader(pickle.loads(pickle.dumps(first)), 6, sampler=[(2, at) for at in range(18)], collate_fn=face_collate, num_workers=2)
    assert torch.equal(torch.cat([batch['inputs'] for batch in loader]), torch.stack(one))


def test_samplers_take_it_like_one_set(small_rec, folder):
    dataset = ConcatDataset(configs(small_rec, folder))
    assert sorted(at for _, at in FaceSampler(dataset)) == list(range(18))
    for batch in torch.tensor([at for _, at in ClassAwareSampler(dataset, identities=2, images=2)]).view(-1, 2, 2):
        labels = torch.from_numpy(dataset.labels)[batch]
        assert (labels[:, 0] == labels[:, 1]).all() and labels[0, 0] != labels[1, 0]


def test_an_image_that_cannot_be_used_is_replaced_inside_its_set(small_rec, folder):
    (folder / 'y/1.jpg').write_bytes(b'')
    sets = configs(small_rec, folder)
    with pytest.raises(DataFormatError, match=r'y/1\.jpg: empty file'):
        ConcatDataset(sets)[17]
    sets[1].update(on_error='skip', max_skipped=.5)
    sample = ConcatDataset(sets)[17]['data_samples']
    assert (sample.sample_idx.tolist(), sample.gt_label.tolist()) == ([15], [5])


@pytest.mark.parametrize('options, error, words', [
    (dict(datasets=[]), ValueError, 'there is none'),
    (dict(label_spaces='shared'), ValueError, "'joint' or 'separate', got 'shared'"),
    (dict(num_classes=6), DataFormatError, 'tree.*7 classes of all sets together.*num_classes=6.*set it to 7'),
])
def test_what_cannot_be_joined_is_refused(small_rec, folder, options, error, words):
    with pytest.raises(error, match=words):
        ConcatDataset(**{'datasets': configs(small_rec, folder), **options})
    assert ConcatDataset(configs(small_rec, folder), num_classes=9).metainfo == dict(num_classes=9)


def test_a_set_that_does_not_pack_is_refused(small_rec):
    with pytest.raises(ValueError, match=r'end with PackFace; not so: \[0\]'):
        ConcatDataset([FaceDataset(small_rec, pipeline=PLAIN[:1])])
