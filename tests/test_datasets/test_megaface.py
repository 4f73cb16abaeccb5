"""MegaFace's development kit: lists, noise and feature files."""
import json
import struct

import numpy as np
import pytest

from mmface.datasets import DataFormatError, DataFormatWarning, open_eval
from mmface.datasets.formats import EVALS
from mmface.datasets.formats.megaface_features import read_megaface_feature, read_megaface_features


@pytest.fixture
def kit(tmp_path):
    """``kit({file: text})``: three images of two people, two distractors."""

    def make(changed=None):
        files = {
            'templatelists/facescrub_features_list.json': json.dumps(
                dict(path=['B/B_1.png', 'A/A_1.png', 'B/B_2.png'], id=['B', 'A', 'B'])),
            'templatelists/megaface_features_list.json_2_1': json.dumps(dict(path=['1/x.jpg', '2/x.jpg'])),
            **(changed or {}),
        }
        for name, text in files.items():
            path = tmp_path / 'kit' / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return tmp_path / 'kit'

    return make


@pytest.mark.parametrize('options, distractors', [(dict(), 60), (dict(size=60), 60), (dict(size=10), 10)])
def test_the_reference_set_has_the_expected_rows(shared, options, distractors):
    root = shared / 'reference/fixtures/ident'
    expected = json.loads((root / 'expected.json').read_text())['megaface']
    found = open_eval(root / 'megaface', lists_only=True, **options)
    lists = {name: json.loads((root / 'megaface/templatelists' / name).read_text())
             for name in ('facescrub_features_list.json', f'megaface_features_list.json_{distractors}_1')}
    probes, others = lists.values()
    assert len(found.probe) == expected['probes']
    assert [path.partition('_images/')[2] for path in found.paths] == probes['path'] + others['path']
    assert found.gallery.tolist() == found.probe.tolist() == list(range(20))
    assert found.distractor.tolist() == list(range(20, 20 + distractors))
    people = sorted(set(probes['id']))
    assert found.ids.tolist() == [people.index(name) for name in probes['id']] + [-1] * distractors
    noisy = {'Actor_B/Actor_B_102.png', '6/1013@N00/790_0.jpg'}
    assert found.noisy.tolist() == [name in noisy for name in probes['path'] + others['path']]


@pytest.mark.parametrize('name, fact', [('list_lengths_differ.json', '1 id, 2 paths'), ('list_no_path.json', 'key "path" missing')])
def test_a_broken_reference_list_is_refused_with_the_facts(shared, name, fact):
    with pytest.raises(DataFormatError) as raised:
        open_eval(shared / 'reference/fixtures/adversarial/megaface' / name, 'megaface')
    assert fact in str(raised.value)


@pytest.mark.parametrize('content, fact', [
    ('{"path": ["a"', r'facescrub_features_list\.json: no JSON: '),
    ('["a"]', 'a JSON list: expected an object'),
    ('{"path": ["a"]}', 'key "id" missing: found: path'),
    ('{"path": "a", "id": ["1"]}', 'key "path": no list of texts'),
    ('{"path": ["a", 3], "id": ["1", "2"]}', 'key "path": no list of texts'),
    ('{"path": ["a", "a"], "id": ["1", "2"]}', 'path 0: a: an image stands in a list once'),
    ('{"path": ["a", "../b"], "id": ["1", "2"]}', "image 'facescrub_images/../b'"),
])
def test_a_broken_list_is_refused(kit, content, fact):
    with pytest.raises(DataFormatError, match=fact):
        open_eval(kit({'templatelists/facescrub_features_list.json': content}), lists_only=True)


def test_the_size_must_be_one_there_is(kit):
    root = kit({'templatelists/megaface_features_list.json_10_3': '{"path": []}'})
    assert len(open_eval(root, lists_only=True).distractor) == 2
    assert len(open_eval(root, lists_only=True, part=3).distractor) == 0
    with pytest.raises(DataFormatError, match=r'no megaface_features_list\.json_100_1: found: 2_1, 10_3'):
        open_eval(root, size=100)


def test_noise_is_matched_by_name_for_probes_and_by_path_for_distractors(kit):
    assert open_eval(kit(), lists_only=True).noisy is None
    root = kit({'data/facescrub_noises.txt': '# B_1.png\nB_2.png\nelsewhere.png\n', 'data/megaface_noises.txt': '7\t2/x.jpg\nx.jpg\n'})
    assert open_eval(root, lists_only=True).noisy.tolist() == [False, False, True, False, True]
    (root / 'data/megaface_noises.txt').write_bytes(b'7\t2/x.jpg\n\xe9')
    with pytest.raises(DataFormatError, match=r'megaface_noises\.txt: line 2: byte 0xe9 is not UTF-8'):
        open_eval(root, lists_only=True)
    (root / 'data/megaface_noises.txt').unlink()
    with pytest.warns(DataFormatWarning, match=r'facescrub_noises\.txt: none of 1 names is a probe'):
        open_eval(kit({'data/facescrub_noises.txt': 'B 2.png\n'}), lists_only=True)


def test_images_are_looked_for_beside_the_lists_or_where_they_are_said_to_be(kit, tree):
    with pytest.warns(DataFormatWarning, match='none of the 5 images is beside the list'):
        open_eval(kit())
    images = tree('facescrub_images/A/A_1.png', 'facescrub_images/B/B_1.png', 'facescrub_images/B/B_2.png', 'megaface_images/1/x.jpg')
    with pytest.raises(DataFormatError, match=r'1 of 5 images are missing: megaface_images/2/x\.jpg'):
        open_eval(kit(), images=images)


def test_the_reference_features_come_in_the_order_of_the_set(shared):
    root = shared / 'reference/fixtures/ident/megaface'
    images = EVALS.open(root, lists_only=True)
    found = read_megaface_features(images, root / 'feature_out', 'toy')
    for at, name in enumerate(images.files):
        data = (root / f'feature_out/{name.replace("_images", "")}_toy.bin').read_bytes()
        assert found.embeddings[at].tolist() == list(struct.unpack(f'<{struct.unpack_from("<i", data)[0]}f', data[16:]))
    assert found.in_order_of(images.set.paths).embeddings.shape == (80, 12)
    with pytest.raises(DataFormatError, match=r'Actor_A_0\.png_other\.bin: no such file'):
        read_megaface_features(images, root / 'feature_out', 'other')


@pytest.mark.parametrize('name, fact', [
    ('big_endian', '134217728 rows: byte order?'), ('extra', '4 bytes after the values'),
    ('huge_rows', 'claims 2000000000 values, holds 0'), ('negative_rows', '-1 rows'), ('truncated', 'claims 8 values, holds 7'),
])
def test_a_broken_reference_feature_is_refused_with_the_facts(shared, name, fact):
    with pytest.raises(DataFormatError) as raised:
        read_megaface_feature(shared / f'reference/fixtures/adversarial/megaface/{name}.bin')
    assert fact in str(raised.value)


@pytest.mark.parametrize('data, fact', [
    (b'', 'a.bin: empty: expected a header of 16 bytes'),
    (struct.pack('<iii', 1, 1, 4), '12 bytes: expected a header'),
    (struct.pack('<iiii4f', 2, 2, 8, 5, 1, 2, 3, 4), '2 columns, step 8: expected 1 column, step 4'),
    (struct.pack('<iiii2d', 2, 1, 8, 6, 1, 2), 'type 6 (CV_64F): expected 5 (CV_32F)'),
    (struct.pack('<iiiif', 1, 1, 4, 77, 1), 'type 77 (unknown)'),
    (struct.pack('<iiii', 0, 1, 4, 5), '0 rows'),
    (struct.pack('<iiiif', 1, 1, 4, 5, 1) + b'\0', '1 bytes after the values'),
])
def test_a_broken_feature_is_refused(tmp_path, data, fact):
    (tmp_path / 'a.bin').write_bytes(data)
    with pytest.raises(DataFormatError) as raised:
        read_megaface_feature(tmp_path / 'a.bin')
    assert fact in str(raised.value)


def test_features_of_different_lengths_are_refused(kit):
    images = EVALS.open(kit(), lists_only=True)
    for at, name in enumerate(images.files):
        path = kit() / f'features/{name.replace("_images", "")}_mine.bin'
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(struct.pack('<iiii', 2 + at // 4, 1, 4, 5) + np.ones(2 + at // 4, '<f4').tobytes())
    with pytest.raises(DataFormatError, match=r'2/x\.jpg_mine\.bin: 3 values: the first file has 2'):
        read_megaface_features(images, kit() / 'features', 'mine')
