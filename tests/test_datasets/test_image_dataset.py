"""A whole batch in one call is what its images are one by one."""
import numpy as np
import pytest
import torch
from mmengine.dataset import default_collate, pseudo_collate
from torch.utils.data import DataLoader

from mmface.datasets import DataFormatError, FaceDataset, FaceSampler, PackFace, face_collate
from mmface.datasets.face_batch import FaceBatch
from mmface.structures import FaceDataSample

PLAIN = [dict(type='DecodeFace'), dict(type='PackFace')]
MMCV = [dict(type='DecodeFace'), dict(type='Resize', scale=(40, 48)), dict(type='mmcv.RandomFlip', prob=.5), dict(type='PackFace')]
ADAFACE = [
    dict(type='DecodeFace'),
    dict(type='RandomCropInPlace', prob=.7),
    dict(type='RandomLowResolution', prob=.7),
    dict(type='RandomPhotometric', prob=.7),
    dict(type='RandomFlip', prob=.5),
    dict(type='PackFace')
]


def same(one: dict, other: dict) -> bool:
    samples = one['data_samples'], other['data_samples']
    return torch.equal(one['inputs'], other['inputs']) and all(torch.equal(samples[0].get(name), samples[1].get(name))
                                                               for name in ('gt_label', 'sample_idx'))


@pytest.mark.parametrize('pipeline', [PLAIN, MMCV, ADAFACE], ids=['plain', 'mmcv', 'adaface'])
def test_a_batch_in_one_call_is_its_images_one_by_one(small_rec, pipeline):
    dataset = FaceDataset(small_rec, pipeline=pipeline)
    wanted = [(epoch, at) for epoch, at in zip([2, 2, 5, 2], [7, 0, 7, 14], strict=True)]
    batch, items = dataset.__getitems__(wanted), [dataset[index] for index in wanted]
    assert isinstance(batch, FaceBatch)
    assert batch.inputs.is_contiguous()
    assert same(face_collate(batch), face_collate(items))
    assert len(batch) == 4
    assert all(same(one, other) for one, other in zip(batch, items, strict=True))
    assert same(batch[-1], items[-1]) and same(batch[1:3][1], items[2])
    with pytest.raises(IndexError):
        batch[4]


def test_plain_positions_make_a_batch_too(small_rec):
    dataset = FaceDataset(small_rec, pipeline=PLAIN)
    assert same(face_collate(dataset.__getitems__([3, 1])), face_collate([dataset[3], dataset[1]]))


@pytest.mark.parametrize('workers', [0, 2])
@pytest.mark.parametrize('collate', [pseudo_collate, default_collate])
def test_any_collate_function_works_as_it_does_on_a_list(small_rec, collate, workers):
    dataset = FaceDataset(small_rec, pipeline=ADAFACE)
    loader = DataLoader(dataset, 4, sampler=FaceSampler(dataset, seed=1), collate_fn=collate, num_workers=workers)
    orders = list(FaceSampler(dataset, seed=1))
    for at, batch in enumerate(loader):
        items = [dataset[index] for index in orders[4 * at:4 * at + 4]]
        assert all(torch.equal(a, b['inputs']) for a, b in zip(batch['inputs'], items, strict=True))
        samples = batch['data_samples']
        assert [s.gt_label.item() for s in FaceDataSample.batch(samples).split()] == [i['data_samples'].gt_label.item() for i in items]


def to_planes(results: dict) -> torch.Tensor:
    return torch.from_numpy(results['img']).permute(2, 0, 1)


def test_a_pipeline_that_does_not_pack_works_image_by_image(small_rec):
    dataset = FaceDataset(small_rec, pipeline=[dict(type='DecodeFace'), to_planes])
    batch = dataset.__getitems__([(0, 1), (0, 2)])
    assert isinstance(batch, list)
    assert all(torch.equal(one, dataset[0, at]) for one, at in zip(batch, (1, 2), strict=True))


def test_flipped_views_and_strided_images_are_packed_as_they_look(small_rec):

    def turn(results: dict) -> dict:
        return dict(results, img=np.rot90(results['img'])[:, ::-1])

    dataset = FaceDataset(small_rec, pipeline=[dict(type='DecodeFace'), turn, dict(type='PackFace')])
    plain = FaceDataset(small_rec, pipeline=PLAIN)
    for data in (face_collate(dataset.__getitems__([3, 4])), face_collate([dataset[3], dataset[4]])):
        expected = torch.stack([plain[at]['inputs'].rot90(dims=(1, 2)).flip(2) for at in (3, 4)])
        assert torch.equal(data['inputs'], expected)


def test_pixels_that_must_not_be_written_to_are_packed():
    pixels = np.random.default_rng(0).integers(0, 256, (8, 6, 3), dtype=np.uint8)
    pixels.flags.writeable = False
    results = dict(img=pixels, sample_idx=5)
    batch, item = PackFace().pack_batch(1, [results]), PackFace()(results)
    assert torch.equal(batch.inputs[0], item['inputs'])
    assert np.array_equal(item['inputs'].permute(1, 2, 0).numpy(), pixels)
    item['inputs'].zero_()
    assert pixels.any()


def test_pictures_of_two_sizes_in_a_batch_are_named(tree, jpeg):
    root = tree('a/1.jpg', 'a/2.jpg')
    (root / 'a/2.jpg').write_bytes(jpeg(0, (112, 96)))
    dataset = FaceDataset(root, pipeline=PLAIN, on_error='skip', max_skipped=1)
    with pytest.raises(DataFormatError, match=r'a/2\.jpg: 96 x 112 pixels: a/1\.jpg in the same batch has 112 x 112.*"Resize"'):
        dataset.__getitems__([0, 1])


def test_what_is_no_picture_is_not_packed(small_rec):

    def floats(results: dict) -> dict:
        return dict(results, img=results['img'].astype(np.float32))

    dataset = FaceDataset(small_rec, pipeline=[dict(type='DecodeFace'), floats, dict(type='PackFace')])
    with pytest.raises(ValueError, match=r'uint8 \[H, W, 3\], got float32'):
        dataset.__getitems__([0])


def test_only_the_generators_that_transforms_draw_from_are_seeded(small_rec, monkeypatch):
    seeded = []
    monkeypatch.setattr('mmface.datasets.image_dataset.seed_sample', lambda *seeds: seeded.append(seeds))
    for pipeline in (PLAIN, ADAFACE, MMCV):
        FaceDataset(small_rec, pipeline=pipeline, seed=4)[3, 2]
    assert seeded == [(4, 3, 2, set()), (4, 3, 2, {'numpy'}), (4, 3, 2, {'numpy', 'python', 'torch'})]


def test_an_image_that_cannot_be_used_stops_with_file_key_reason_and_the_command_that_inspects_it(tree):
    root = tree('a/1.jpg', 'a/2.jpg')
    (root / 'a/2.jpg').write_bytes(b'<html>')
    dataset = FaceDataset(root, pipeline=PLAIN)
    facts = [str(root), 'a/2.jpg', 'not an image', f'mmface doctor {root}']
    for index in (1, (0, 1)):
        with pytest.raises(DataFormatError) as raised:
            dataset[index]
        assert [fact for fact in facts if fact not in str(raised.value)] == []
    with pytest.raises(DataFormatError, match=r'no such file.*mmface doctor .*nowhere'):
        FaceDataset(root / 'nowhere')
