"""Procedural faces: a pure function of its arguments, in which shape alone tells people apart."""
import importlib.util
from collections import Counter
from dataclasses import fields, replace
from pathlib import Path

import cv2
import numpy as np
import pytest

from mmface.datasets import FaceDataset, open_eval, open_records
from mmface.datasets.procedural import FaceIdentity, FaceView, ProceduralFaces, SetSizes, write_sets
from mmface.datasets.procedural.camera import photograph
from mmface.datasets.procedural.face_painter import FacePainter

SMALL = SetSizes(people=5, pictures=4, test_people=12, test_pictures=3, folds=2, pairs=40)


@pytest.fixture(scope='module')
def written(tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp('procedural')
    write_sets(out, 7, SMALL)
    return out


@pytest.fixture(scope='module')
def converter():
    file = Path(__file__).resolve().parents[2] / 'tools/dataset_converters/procedural.py'
    spec = importlib.util.spec_from_file_location('procedural_converter', file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def picture(who: FaceIdentity, view: FaceView) -> np.ndarray:
    return photograph(FacePainter(who, view).paint(), view, np.random.default_rng(0))


def test_a_picture_is_rgb_of_112_by_112():
    image, _ = ProceduralFaces().draw(0, 0)
    assert image.shape == (112, 112, 3)
    assert image.dtype == np.uint8
    assert image.std() > 10


def test_a_picture_does_not_depend_on_what_was_drawn_before():
    one, other = ProceduralFaces(3), ProceduralFaces(3)
    other.jpeg(0, 0)
    other.jpeg(12, 4)
    assert one.jpeg(12, 5) == other.jpeg(12, 5)


@pytest.mark.parametrize('changed', [(4, 12, 5), (3, 13, 5), (3, 12, 6)])
def test_another_seed_person_or_picture_is_another_picture(changed):
    seed, person, at = changed
    assert np.abs(ProceduralFaces(3).draw(12, 5)[0] - ProceduralFaces(seed).draw(person, at)[0].astype(int)).mean() > 5


def test_the_first_picture_does_not_share_its_random_numbers_with_the_identity():
    who = ProceduralFaces().identity(5)
    _, view = ProceduralFaces().draw(5, 0)
    assert FaceIdentity.sample(np.random.default_rng((0, 5, 1))) != who
    assert view.gain == FaceView.sample(np.random.default_rng((0, 5, 1))).gain


def test_the_jpeg_is_the_picture_with_its_channels_in_order():
    faces = ProceduralFaces()
    drawn, _ = faces.draw(1, 1)
    decoded = cv2.cvtColor(cv2.imdecode(np.frombuffer(faces.jpeg(1, 1), np.uint8), cv2.IMREAD_COLOR), cv2.COLOR_BGR2RGB)
    same, swapped = (np.abs(drawn - other.astype(int)).mean() for other in (decoded, decoded[..., ::-1]))
    assert same < 5 < swapped


def test_traits_lie_within_their_ranges():
    for person in range(20):
        who = ProceduralFaces().identity(person)
        for name, (low, high, *length) in FaceIdentity.ranges().items():
            value = getattr(who, name)
            assert np.shape(value) == tuple(length)
            assert np.all((low <= value) & (value <= high)), name


@pytest.mark.parametrize('trait', FaceIdentity.ranges())
def test_every_trait_shows_in_some_picture(trait):
    ends, seen = FaceIdentity.ranges()[trait][:2], 0
    for at in range(4):
        who = ProceduralFaces().identity(at)
        _, view = ProceduralFaces().draw(at, 0)
        one, other = (picture(replace(who, **{trait: np.full(np.shape(getattr(who, trait)), end)}), view) for end in ends)
        seen = max(seen, np.abs(one - other.astype(int)).max())
    assert seen > 10


@pytest.mark.parametrize('name', [entry.name for entry in fields(FaceView) if entry.name != 'quality'])
def test_everything_that_varies_shows_in_some_picture(name):
    faces = ProceduralFaces()
    who = faces.identity(1)
    views = [faces.draw(1, at)[1] for at in range(6)]
    for view in views[1:]:
        changed = replace(views[0], **{name: getattr(view, name)})
        if not np.array_equal(picture(who, views[0]), picture(who, changed)):
            return
    pytest.fail(f'{name} changes nothing')


def test_shape_tells_people_apart_and_colour_does_not():
    faces, people, pictures = ProceduralFaces(1), 40, 12
    images = np.array([[faces.draw(person, at)[0] for at in range(pictures)] for person in range(people)], np.float64)
    colour = images.mean((2, 3))  # [people, pictures, 3]
    between = pictures * colour.mean(1).var(0, ddof=1)
    within = colour.var(1, ddof=1).mean(0)
    assert np.all(between / within < 2)  # F statistic of 39 and 440 degrees of freedom: above 1.8 once in a thousand, were there no effect
    _, view = faces.draw(0, 0)
    alike = [picture(faces.identity(person), view) for person in range(10)]
    assert min(np.abs(one - other.astype(int)).mean() for at, one in enumerate(alike) for other in alike[:at]) > 4


def test_the_training_set_holds_the_pictures_of_the_first_people_with_their_numbers_as_labels(written):
    records, faces = open_records(written / 'train.rec'), ProceduralFaces(7)
    assert records.labels.tolist() == [person for person in range(SMALL.people) for _ in range(SMALL.pictures)]
    assert records.num_classes == SMALL.people
    assert [bytes(records.read(at)) for at in range(len(records))] == \
        [faces.jpeg(person, at) for person in range(SMALL.people) for at in range(SMALL.pictures)]


def test_the_pair_set_is_of_other_people_with_half_of_each_kind_in_every_fold(written):
    pairs = open_eval(written / 'test')
    assert len(pairs) == SMALL.pairs
    assert Counter(zip(pairs.fold.tolist(), pairs.same.tolist(), strict=True)) == {(f, s): 10 for f in (0, 1) for s in (False, True)}
    people = np.array([int(name.removeprefix('face')) for name in pairs.identities])[pairs.pairs]
    assert people.min() >= SMALL.people
    assert np.array_equal(people[:, 0] == people[:, 1], pairs.same)
    assert not set(people[pairs.fold == 0].flat) & set(people[pairs.fold == 1].flat)
    assert len({frozenset(pair) for pair in pairs.pairs.tolist()}) == SMALL.pairs


def test_a_picture_of_the_pair_set_is_that_of_its_name(written):
    assert (written / 'test/face00006/face00006_0003.jpg').read_bytes() == ProceduralFaces(7).jpeg(6, 2)


def test_the_same_arguments_write_the_same_files(written, tmp_path):
    write_sets(tmp_path, 7, SMALL)
    names = sorted(file.relative_to(written) for file in written.rglob('*') if file.is_file())
    assert len(names) == 3 + 1 + 36
    assert names == sorted(file.relative_to(tmp_path) for file in tmp_path.rglob('*') if file.is_file())
    assert all((written / name).read_bytes() == (tmp_path / name).read_bytes() for name in names)


@pytest.mark.parametrize(('wrong', 'message'), [(dict(pairs=41), 'multiple of twice the folds'), (dict(pairs=80), 'at most 15'),
                                                (dict(test_people=13), 'multiple of the folds'), (dict(people=0), 'count from 1')])
def test_impossible_sizes_are_refused(wrong, message):
    with pytest.raises(ValueError, match=message):
        replace(SMALL, **wrong)


def test_the_converter_writes_all_or_nothing(converter, tmp_path, capsys):
    sizes = [f'--{entry.name.replace("_", "-")}={getattr(SMALL, entry.name)}' for entry in fields(SMALL)]
    assert converter.main(['--out', str(tmp_path / 'set'), *sizes]) == 0
    assert '20 images of 5 people' in capsys.readouterr().out
    assert len(FaceDataset(str(tmp_path / 'set/train.rec'))) == 20
    assert converter.main(['--out', str(tmp_path / 'set'), *sizes]) == 2
    assert 'exists already' in capsys.readouterr().err
    assert converter.main(['--out', str(tmp_path / 'other'), '--pairs=7']) == 2
    assert [entry.name for entry in tmp_path.iterdir()] == ['set']
