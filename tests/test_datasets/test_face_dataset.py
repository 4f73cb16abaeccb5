"""From a set on disk to a batch."""
import random

import numpy as np
import pytest
import torch
from torch._utils import ExceptionWrapper
from torch.utils.data import DataLoader

from mmface.datasets import DataFormatError, EvalDataset, FaceDataset, FaceSampler, PackFace, face_collate
from mmface.datasets.decode import decode_image
from mmface.datasets.seeding import mix
from mmface.structures import FaceDataSample

PLAIN = [dict(type='DecodeFace'), dict(type='PackFace')]


def add_noise(results: dict) -> dict:
    """A transform that draws from all three generators."""
    shift = random.randrange(3) + np.random.randint(3) + int(torch.randint(3, ()))
    return dict(results, img=results['img'] // 2 + np.uint8(shift))


RANDOM = [dict(type='DecodeFace'), add_noise, dict(type='RandomFlip', prob=0.5), dict(type='PackFace')]


def test_an_item_is_the_picture_in_planes_with_its_label_and_place(small_rec):
    dataset = FaceDataset(small_rec, pipeline=PLAIN)
    item = dataset[4]
    assert item['inputs'].dtype == torch.uint8
    assert np.array_equal(item['inputs'].permute(1, 2, 0).numpy(), decode_image(dataset.records.read(4)))
    assert item['data_samples'].gt_label.tolist() == [2]
    assert item['data_samples'].sample_idx.tolist() == [4]
    assert len(dataset) == 15
    assert dataset.metainfo == dict(num_classes=5)


def test_names_of_classes_are_kept(tree):
    assert FaceDataset(tree('b/1.jpg', 'a/1.jpg')).metainfo == dict(num_classes=2, classes={'a': 0, 'b': 1})


def test_a_batch_stacks_pictures_and_labels(small_rec):
    dataset = FaceDataset(small_rec, pipeline=PLAIN)
    items = [dataset[at] for at in (7, 0, 14)]
    batch = face_collate(items)
    assert batch['inputs'].shape == (3, 3, 112, 112)
    assert batch['inputs'].is_contiguous()
    assert torch.equal(batch['inputs'][1], items[1]['inputs'])
    assert batch['data_samples'].gt_label.tolist() == [3, 0, 4]
    assert batch['data_samples'].sample_idx.tolist() == [7, 0, 14]


def test_pictures_of_two_sizes_are_no_batch(tree, jpeg):
    root = tree('a/1.jpg', 'a/2.jpg')
    (root / 'a/2.jpg').write_bytes(jpeg(0, (96, 112)))
    dataset = FaceDataset(root, pipeline=PLAIN)
    with pytest.raises(ValueError, match=r'sample 0 has the shape \(3, 112, 112\), sample 1 \(3, 96, 112\)'):
        face_collate([dataset[0], dataset[1]])
    resized = FaceDataset(root, pipeline=[dict(type='DecodeFace'), dict(type='Resize', scale=(80, 64)), dict(type='PackFace')])
    assert face_collate([resized[0], resized[1]])['inputs'].shape == (2, 3, 64, 80)


def test_a_label_that_the_head_has_no_room_for_is_refused_at_once(small_rec):
    with pytest.raises(DataFormatError) as raised:
        FaceDataset(small_rec, num_classes=3)
    facts = ['train.rec', 'record 7', 'label 3', 'num_classes=3', 'like 9 of 15', 'num_classes to 5']
    assert [fact for fact in facts if fact not in str(raised.value)] == []
    assert FaceDataset(small_rec, num_classes=8).metainfo == dict(num_classes=8)


def test_positions_outside_the_set_are_refused(small_rec):
    dataset = FaceDataset(small_rec, pipeline=PLAIN)
    assert dataset[-1]['data_samples'].sample_idx.tolist() == [14]
    with pytest.raises(IndexError):
        dataset[15]
    with pytest.raises(IndexError):
        dataset[0, 15]


def test_a_sample_depends_on_seed_epoch_and_place_alone(small_rec):
    first, second = (FaceDataset(small_rec, pipeline=RANDOM, seed=seed) for seed in (0, 1))
    one = [first[0, at]['inputs'] for at in range(15)]
    assert all(torch.equal(first[0, at]['inputs'], one[at]) for at in reversed(range(15)))
    assert not all(torch.equal(first[1, at]['inputs'], one[at]) for at in range(15))
    assert not all(torch.equal(second[0, at]['inputs'], one[at]) for at in range(15))


def test_a_plain_index_leaves_the_generators_alone(small_rec):
    dataset = FaceDataset(small_rec, pipeline=PLAIN)

    def states() -> tuple:
        return random.getstate(), np.random.get_state()[1].tolist(), torch.get_rng_state().tolist()

    before = states()
    dataset[3]
    assert states() == before


def test_mixed_seeds_do_not_collide():
    assert len({mix(seed, epoch, at) for seed in range(10) for epoch in range(10) for at in range(100)}) == 10000
    assert mix(1, 0) != mix(0, 1) != mix(0, 1, 0)


def test_persistent_workers_give_the_samples_that_the_main_process_gives(small_rec):

    def epochs(num_workers: int) -> list:
        dataset = FaceDataset(small_rec, pipeline=RANDOM)
        sampler = FaceSampler(dataset, seed=2)
        loader = DataLoader(
            dataset, 4, sampler=sampler, collate_fn=face_collate, num_workers=num_workers, persistent_workers=num_workers > 0)
        batches = []
        for epoch in range(3):
            sampler.set_epoch(epoch)
            batches.append([(batch['inputs'], batch['data_samples'].sample_idx.tolist()) for batch in loader])
        return batches

    for alone, shared_out in zip(epochs(0), epochs(2), strict=True):
        assert [places for _, places in alone] == [places for _, places in shared_out]
        assert all(torch.equal(a, b) for (a, _), (b, _) in zip(alone, shared_out, strict=True))


def test_a_broken_record_is_named_from_a_worker_too(tmp_path, small_rec):
    (tmp_path / 'train.rec').write_bytes(small_rec.read_bytes().replace(b'\xff\xd8\xff', b'\0\0\0', 1))
    (tmp_path / 'train.idx').write_bytes(small_rec.with_suffix('.idx').read_bytes())
    dataset = FaceDataset(tmp_path, pipeline=PLAIN)
    try:
        dataset[0]
    except DataFormatError:
        crossing = ExceptionWrapper(where='in DataLoader worker process 0')  # what a worker sends
    with pytest.raises(DataFormatError, match=r'train\.rec: record 1: not an image'):
        crossing.reraise()


def test_packing_refuses_what_is_no_longer_a_picture():
    with pytest.raises(ValueError, match=r'uint8 \[H, W, 3\], got float32'):
        PackFace()(dict(img=np.zeros((4, 4, 3), np.float32), sample_idx=0))


def test_a_pair_data_set_has_each_image_once_in_the_order_of_the_set(tree):
    root = tree('A/A_0001.jpg', 'A/A_0002.jpg', 'B/B_0001.jpg', 'C/C_0001.jpg')
    (root / 'pairs.txt').write_text('1\t1\nA\t2\t1\nB\t1\tA\t2\n')
    dataset = EvalDataset(str(root), name='mine', pipeline=PLAIN)
    pair_set = dataset.metainfo['pair_set']
    assert pair_set.name == 'mine'
    assert len(dataset) == len(pair_set.paths) == 3
    for at, path in enumerate(pair_set.paths):
        with open(path, 'rb') as file:
            assert np.array_equal(dataset[at]['inputs'].permute(1, 2, 0).numpy(), decode_image(file.read()))
        assert dataset[at]['data_samples'].sample_idx.tolist() == [at]
        assert 'gt_label' not in dataset[at]['data_samples']
    assert isinstance(face_collate([dataset[0], dataset[1]])['data_samples'], FaceDataSample)


def test_the_pairs_may_lie_apart_from_the_images(tree, tmp_path):
    root = tree('A/A_0001.jpg', 'A/A_0002.jpg', 'B/B_0001.jpg')
    (tmp_path / 'list.txt').write_text('1\nA\t2\t1\nB\t1\tA\t2\n')
    assert EvalDataset(tmp_path / 'list.txt', root).metainfo['pair_set'].name == 'lfw'
