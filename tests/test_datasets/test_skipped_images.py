"""Going on without broken images: counted, logged, replaced by the next, and only up to a share."""
import pickle
from multiprocessing.reduction import ForkingPickler

import pytest
import torch
from mmengine.logging import MMLogger
from torch.utils.data import DataLoader

from mmface.datasets import DataFormatError, FaceDataset, FaceSampler, face_collate

PLAIN = [dict(type='DecodeFace'), dict(type='RandomFlip', prob=.5), dict(type='PackFace')]
BROKEN = (2, 3, 9)


@pytest.fixture
def faces(tree):
    """Ten images of two people, of which 2, 3 and 9 are broken."""
    root = tree(*(f'{person}/{at}.jpg' for person in 'ab' for at in range(5)))
    for at in BROKEN:
        (root / f'{"ab"[at // 5]}/{at % 5}.jpg').write_bytes(b'' if at == 2 else b'<html>')
    return root


@pytest.fixture
def log(tmp_path):
    logger = MMLogger('skipping', logger_name='skipping', log_file=str(tmp_path / 'log.txt'), log_level='INFO')
    MMLogger._instance_dict['skipping'] = logger
    yield lambda: (tmp_path / 'log.txt').read_text().splitlines()
    for handler in logger.handlers:
        handler.close()
    del MMLogger._instance_dict['skipping']


def test_the_next_usable_image_takes_the_place_of_a_broken_one(faces, log):
    dataset = FaceDataset(faces, pipeline=PLAIN, on_error='skip', max_skipped=.3)
    batch = face_collate(dataset.__getitems__([(0, at) for at in range(10)]))
    assert batch['data_samples'].sample_idx.tolist() == [0, 1, 4, 4, 4, 5, 6, 7, 8, 0]
    assert batch['data_samples'].gt_label.tolist() == [0] * 5 + [1] * 4 + [0]
    assert dataset[0, 3]['data_samples'].sample_idx.tolist() == [4]
    assert dataset.skipped.indices() == list(BROKEN)
    assert len(dataset.skipped) == 3


def test_each_broken_image_is_logged_once_with_file_reason_and_count(faces, log):
    dataset = FaceDataset(faces, pipeline=PLAIN, on_error='skip', max_skipped=.3)
    for _ in range(2):
        dataset.__getitems__(list(range(10)))
    lines = [line for line in log() if 'skipped' in line]
    assert len(lines) == 3
    for at, (line, name) in enumerate(zip(lines, ('a/2.jpg', 'a/3.jpg', 'b/4.jpg'), strict=True)):
        assert f'skipped, {at + 1} of 10 images so far' in line
        assert f'{faces}: {name}' in line
    assert 'ERROR' in lines[0], 'other ranks than the first show nothing less'


def test_above_the_stated_share_the_run_stops(faces):
    dataset = FaceDataset(faces, pipeline=PLAIN, on_error='skip', max_skipped=.29)
    dataset.__getitems__([2, 3])
    with pytest.raises(DataFormatError, match=r'b/4\.jpg: not an image.*3 of 10 images cannot be used, more than max_skipped=0\.29'):
        dataset.__getitems__([8, 9])


def test_a_set_without_one_usable_image_ends(tree):
    root = tree('a/1.jpg', 'b/1.jpg')
    for file in root.glob('*/*'):
        file.write_bytes(b'')
    dataset = FaceDataset(root, pipeline=PLAIN, on_error='skip', max_skipped=.9)
    with pytest.raises(DataFormatError, match='2 of 2 images'):
        dataset[0]


def test_workers_give_the_same_batches_and_their_counts_come_together(faces):

    def batches(**options) -> tuple[list, FaceDataset]:
        dataset = FaceDataset(faces, pipeline=PLAIN, on_error='skip', max_skipped=.3)
        loader = DataLoader(dataset, 5, sampler=FaceSampler(dataset, seed=3), collate_fn=face_collate, **options)
        return list(loader), dataset

    (alone, _), (shared_out, dataset) = batches(), batches(num_workers=2)
    assert [len(batch['inputs']) for batch in shared_out] == [5, 5]
    assert all(torch.equal(a['inputs'], b['inputs']) for a, b in zip(alone, shared_out, strict=True))
    assert [a['data_samples'].sample_idx.tolist() for a in alone] == [b['data_samples'].sample_idx.tolist() for b in shared_out]
    assert dataset.skipped.indices() == list(BROKEN)


def test_counts_come_together_from_a_worker_that_was_not_forked(faces):
    dataset = FaceDataset(faces, pipeline=PLAIN, on_error='skip', max_skipped=.3)
    in_worker = pickle.loads(ForkingPickler.dumps(dataset))  # what starting a process afresh does
    in_worker[3]
    assert dataset.skipped.indices() == [3]


def test_a_fault_of_the_pipeline_is_not_skipped(faces):

    def broken(results: dict) -> dict:
        raise ValueError('a bug')

    with pytest.raises(ValueError, match='a bug'):
        FaceDataset(faces, pipeline=[broken], on_error='skip', max_skipped=1)[0]


@pytest.mark.parametrize('options, words', [(dict(on_error='ignore'), "on_error is 'stop' or 'skip', got 'ignore'"),
                                            (dict(on_error='skip', max_skipped=5), 'max_skipped is a share')])
def test_wrong_options_are_named(faces, options, words):
    with pytest.raises(ValueError, match=words):
        FaceDataset(faces, **options)


def test_nothing_is_counted_by_default(faces):
    assert FaceDataset(faces).skipped is None
