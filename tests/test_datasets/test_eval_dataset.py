"""Sets of templates and searches as data sets: what a pipeline is given, and under which name a metric finds the set."""
import numpy as np
import pytest

from mmface.datasets import EvalDataset
from mmface.datasets.formats import EVALS
from mmface.functional.geometry import landmark_template, similarity_transform
from mmface.structures import SearchSet, TemplateSet

PICTURES = ('001_frontal.jpg', '001_cam1_1.jpg')


def test_a_loose_crop_comes_with_its_landmarks(shared):
    root = shared / 'reference/fixtures/ijb/IJBC'
    dataset = EvalDataset(str(root), name='mine', pipeline=[dict(type='DecodeFace')])
    template_set = dataset.metainfo['template_set']
    assert list(dataset.metainfo) == ['template_set']
    assert isinstance(template_set, TemplateSet)
    assert (template_set.name, len(dataset)) == ('mine', 128)
    item = dataset[-1]
    assert item['landmarks'].tolist() == template_set.landmarks[127].tolist()
    assert (item['sample_idx'], item['where'], item['img'].ndim) == (127, '128.jpg', 3)


def test_the_pipeline_aligns_loose_crops(shared):
    root = shared / 'reference/fixtures/ijb/IJBC'
    transforms = [dict(type='DecodeFace'), dict(type='AlignFace', size=(112, 112)), dict(type='PackFace')]
    dataset = EvalDataset(str(root), pipeline=transforms)
    assert dataset[5]['inputs'].shape == (3, 112, 112)
    assert dataset[5]['data_samples'].sample_idx.tolist() == [5]
    aligned = EvalDataset(str(root), pipeline=transforms[:2])[5]['landmarks']
    np.testing.assert_allclose(similarity_transform(aligned, landmark_template((112, 112), 'arcface')), np.eye(2, 3), atol=1e-9)


def test_a_search_has_no_landmarks(tree):
    dataset = EvalDataset(str(tree(*PICTURES)))
    assert isinstance(dataset.metainfo['search_set'], SearchSet)
    assert sorted(dataset[0]) == ['img_bytes', 'path', 'sample_idx', 'where']
    assert dataset[0]['where'] == '001_cam1_1.jpg'


def test_options_reach_the_reader(shared):
    root = shared / 'reference/fixtures/ident/megaface'
    dataset = EvalDataset(str(root), reader=dict(size=10, lists_only=True))
    assert len(dataset.metainfo['search_set'].distractor) == 10


@pytest.mark.parametrize('folder, format', [
    ('ijb/IJBC', 'ijb'),
    ('ijb/IJBC/meta', 'ijb'),
    ('ijb/IJBS', 'ijbs'),
    ('ident/tinyface/tinyface', 'tinyface'),
    ('ident/tinyface/tinyface/Testing_Set', 'tinyface'),
    ('adversarial/tinyface/v73.mat', 'tinyface'),
    ('ident/megaface', 'megaface'),
    ('ident/scface', 'scface'),
])
def test_a_set_looks_like_one_format_only(shared, folder, format):
    path = shared / 'reference/fixtures' / folder
    assert [name for name, reader in EVALS.readers.items() if reader.sniff(path)] == [format]
