"""The gallery on disk."""
import os
import signal
import stat
import subprocess
import sys
import time
from datetime import datetime, timedelta, timezone

import numpy as np
import pytest

from mmface.apis.gallery import Gallery, GalleryError, GalleryIndex

NOW = datetime(2026, 5, 1, tzinfo=timezone.utc)
ID, OTHER = 'a' * 64, 'b' * 64


def embeddings(count, seed=0, dim=16):
    return np.random.default_rng(seed).normal(size=(count, dim))


@pytest.fixture
def gallery(tmp_path):
    made = Gallery(tmp_path / 'people.gallery', ID)
    made.enroll(['Ada', 'Bo', 'Ada', 'Cy'], embeddings(4), now=NOW)
    return made


def bytes_in(folder):
    return b''.join(file.read_bytes() for file in folder.iterdir())


def test_a_search_finds_what_a_loop_finds(gallery):
    rng = np.random.default_rng(1)
    gallery.enroll([f'p{n % 40}' for n in range(100)], embeddings(100, 2))
    rows, names = np.concatenate([embeddings(4), embeddings(100, 2)]), ['Ada', 'Bo', 'Ada', 'Cy', *(f'p{n % 40}' for n in range(100))]
    for query in rng.normal(size=(5, 16)):
        best = {}
        for name, row in zip(names, rows, strict=True):
            best[name] = max(best.get(name, -2), row @ query / np.linalg.norm(row) / np.linalg.norm(query))
        expected = sorted(best.items(), key=lambda item: -item[1])[:7]
        found, = gallery.search(query[None], top=7)
        assert [match.person for match in found] == [name for name, _ in expected]
        np.testing.assert_allclose([match.similarity for match in found], [score for _, score in expected], atol=1e-6)


def test_a_photo_enrolled_twice_is_there_once_with_its_new_dates(gallery):
    gallery.enroll(['Ada', 'Bo'], embeddings(4)[[0, 0]], expires=NOW + timedelta(days=30), now=NOW + timedelta(days=1))
    people = gallery.info(NOW + timedelta(days=2))['people']
    assert people['Ada'] == dict(photos=2, enrolled='2026-05-02T00:00:00Z', expires=None, expired=False)
    assert people['Bo']['photos'] == 2  # hers, and one that is Ada's too
    gallery.enroll(['Ada'], embeddings(4)[[2]], expires=NOW + timedelta(days=30), now=NOW + timedelta(days=1))
    assert gallery.info()['people']['Ada']['expires'] == '2026-05-31T00:00:00Z'


def test_another_process_sees_the_same(gallery):
    again = Gallery(gallery.path, ID)
    assert again.search(embeddings(1))[0][0].person == 'Ada'
    assert again.info() == gallery.info()
    assert again.info()['people']['Ada'] == dict(photos=2, enrolled='2026-05-01T00:00:00Z', expires=None, expired=False)


def test_only_the_owner_can_read_it(gallery):
    assert all(stat.S_IMODE(file.stat().st_mode) == 0o600 for file in gallery.path.parent.iterdir())


def test_embeddings_of_two_networks_are_not_mixed(gallery):
    with pytest.raises(GalleryError, match='cannot be compared'):
        Gallery(gallery.path, OTHER)
    assert Gallery(gallery.path).info()['model_id'] == ID


def test_what_was_removed_is_nowhere_in_the_folder(gallery):
    unit = (embeddings(4) / np.linalg.norm(embeddings(4), axis=1, keepdims=True)).astype(np.float32)
    assert all(row.tobytes() in bytes_in(gallery.path.parent) for row in unit)
    with gallery.path.open('rb') as old:
        assert gallery.remove(['Ada']) == 2
        assert not old.read().strip(b'\0')  # the bytes themselves, which have lost their name
    left = bytes_in(gallery.path.parent)
    assert unit[0].tobytes() not in left
    assert unit[2].tobytes() not in left
    assert 'Ada'.encode('utf-32-le') not in left
    assert unit[1].tobytes() in left
    assert gallery.info()['photos'] == 2


def test_removing_somebody_who_is_not_there_removes_nobody(gallery):
    with pytest.raises(GalleryError, match='not in the gallery: Eve, Zoe; nobody was removed'):
        gallery.remove(['Ada', 'Zoe', 'Eve'])
    assert gallery.info()['photos'] == 4


def test_the_expired_are_not_found_are_listed_and_can_be_forgotten(gallery):
    day = timedelta(days=1)
    gallery.enroll(['Dan'], embeddings(1, 9), expires=NOW + day, now=NOW)
    query = embeddings(1, 9)
    assert gallery.search(query, now=NOW)[0][0].person == 'Dan'
    assert 'Dan' not in [match.person for match in gallery.search(query, top=99, now=NOW + day)[0]]
    listed = gallery.info(now=NOW + day)['people']['Dan']
    assert (listed['expires'], listed['expired']) == ('2026-05-02T00:00:00Z', True)
    assert gallery.remove_expired(now=NOW) == 0
    assert gallery.remove_expired(now=NOW + day) == 1
    assert 'Dan' not in gallery.info()['people']
    with pytest.raises(ValueError, match='has passed'):
        gallery.enroll(['Dan'], query, expires=NOW, now=NOW)


@pytest.mark.parametrize(('people', 'rows', 'message'), [
    (['x'], np.full((1, 16), np.nan), 'embedding 0 has the length nan'),
    (['x', 'y'], np.eye(2, 16) * [[1], [0]], 'embedding 1 has the length 0'),
    (['x'], np.ones((1, 8)), 'of 16 numbers, got 8'),
    (['x', 'y'], np.ones((1, 16)), '2 names for 1'),
    ([' '], np.ones((1, 16)), 'not empty'),
])
def test_what_cannot_be_enrolled_changes_nothing(gallery, people, rows, message):
    before = gallery.path.read_bytes()
    with pytest.raises(ValueError, match=message):
        gallery.enroll(people, rows)
    assert gallery.path.read_bytes() == before


@pytest.mark.parametrize('content', [b'', b'PK\x03\x04 cut short', b'no archive at all'])
def test_a_damaged_file_is_named(tmp_path, content):
    (tmp_path / 'x.gallery').write_bytes(content)
    with pytest.raises(GalleryError, match=r'x\.gallery: not a gallery, or damaged'):
        Gallery(tmp_path / 'x.gallery', ID)


def test_a_gallery_that_is_not_there_is_named(tmp_path):
    with pytest.raises(GalleryError, match=r'no such gallery; "enroll" makes one'):
        Gallery(tmp_path / 'none.gallery', ID).search(embeddings(1))


ENROLL = """
import sys, os
import numpy as np
from mmface.apis.gallery import Gallery
gallery = Gallery(sys.argv[1], 'a' * 64)
rows = np.random.default_rng(5).normal(size=(20_000, 64))
print('ready', flush=True)
while True:
    gallery.enroll(['late'] * len(rows), rows)
    gallery.remove(['late'])
"""


def test_a_search_while_another_process_writes_sees_a_whole_gallery(tmp_path):
    path = tmp_path / 'people.gallery'
    Gallery(path, ID).enroll(['Ada'], embeddings(1, dim=64))
    with subprocess.Popen([sys.executable, '-c', ENROLL, path], stdout=subprocess.PIPE, env=os.environ) as process:
        assert process.stdout.readline() == b'ready\n'
        photos = set()
        for _ in range(20):
            photos.add(Gallery(path, ID).info()['photos'])
        process.kill()
    assert photos <= {1, 20_001}


def test_a_process_killed_in_the_middle_leaves_the_gallery_whole(tmp_path):
    path = tmp_path / 'people.gallery'
    Gallery(path, ID).enroll(['Ada'], embeddings(1, dim=64))
    for delay in (.03, .08, .15, .3):
        with subprocess.Popen([sys.executable, '-c', ENROLL, path], stdout=subprocess.PIPE, env=os.environ) as process:
            assert process.stdout.readline() == b'ready\n'
            time.sleep(delay)
            process.send_signal(signal.SIGKILL)
        found = Gallery(path, ID)
        assert found.info()['photos'] % 20_000 == 1  # all of an enrolment or nothing of it, of this killed process and of earlier ones
        assert found.search(embeddings(1, dim=64))[0][0].person == 'Ada'
        found.enroll(['Bo'], embeddings(1, 3, dim=64))
        assert not list(tmp_path.glob('.*.tmp'))
        found.remove(['Bo'])


def people_of(found):
    return [[(match.person, pytest.approx(match.similarity, abs=1e-6)) for match in matches] for matches in found]


def test_an_index_that_compares_with_all_finds_what_the_gallery_finds(gallery):
    gallery.enroll([f'p{n % 30}' for n in range(300)], embeddings(300, 2), expires=NOW + timedelta(days=9), now=NOW)
    gallery.enroll(['late'] * 20, embeddings(20, 3), expires=NOW + timedelta(days=1), now=NOW)
    index, queries = GalleryIndex(gallery, 'Flat'), np.concatenate([embeddings(20, 3), embeddings(9, 4)])
    for moment in (NOW, NOW + timedelta(days=2), NOW + timedelta(days=30)):
        for top in (1, 7, 1000):
            assert people_of(gallery.search(queries, top, moment)) == people_of(index.search(queries, top, moment))


def test_a_graph_of_neighbours_comes_upon_nearly_all(gallery):
    gallery.enroll([f'p{n}' for n in range(2000)], embeddings(2000, 2))
    queries = embeddings(200, 5)
    pairs = zip(gallery.search(queries, 1), GalleryIndex(gallery).search(queries, 1), strict=True)
    assert np.mean([exact[0].person == near[0].person for exact, near in pairs]) > .95


def test_whoever_is_removed_is_not_found_by_an_index_that_was_there_before(gallery):
    index = GalleryIndex(gallery, 'Flat')
    assert index.search(embeddings(1))[0][0].person == 'Ada'
    Gallery(gallery.path).remove(['Ada'])
    assert {match.person for match in index.search(embeddings(1))[0]} == {'Bo', 'Cy'}
    Gallery(gallery.path).remove(['Bo', 'Cy'])
    assert index.search(embeddings(1)) == [[]]
    gallery.path.unlink()
    with pytest.raises(GalleryError, match='there is no such gallery'):
        index.search(embeddings(1))


def test_an_index_that_faiss_does_not_know_is_named(gallery):
    with pytest.raises(ValueError, match="faiss knows no index 'Round'"):
        GalleryIndex(gallery, 'Round')
