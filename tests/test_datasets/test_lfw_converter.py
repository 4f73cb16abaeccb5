"""The converter of LFW: who is trained on, who is tested, and all or nothing."""
import importlib.util
import io
import tarfile
from pathlib import Path

import pytest

from mmface.datasets import open_eval, open_records

FOLDS, SIZE, PEOPLE = 2, 10, 12


@pytest.fixture(scope='module')
def lfw():
    path = Path(__file__).resolve().parents[2] / 'tools/dataset_converters/lfw.py'
    spec = importlib.util.spec_from_file_location('lfw_converter', path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def person(number: int) -> str:
    return f'Person_{chr(65 + number)}'


@pytest.fixture
def source(tmp_path, jpeg):
    """A folder of twelve people with three images each, four named by the pairs of a fold; ``pairs.txt`` beside it."""
    for number in range(PEOPLE):
        for image in range(1, 4):
            path = tmp_path / f'lfw/{person(number)}/{person(number)}_{image:04d}.jpg'
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(jpeg(10 * number + image, (32, 32)))
    lines = [f'{FOLDS}\t{SIZE}']
    for fold in range(FOLDS):
        names = [person(4 * fold + at) for at in range(4)]
        lines += [f'{names[at % 4]}\t{1 + at // 4 % 2}\t3' for at in range(SIZE)]
        lines += [f'{names[at % 4]}\t{1 + at // 4}\t{names[(at + 1) % 4]}\t1' for at in range(SIZE)]
    (tmp_path / 'pairs.txt').write_text('\n'.join(lines))
    return tmp_path


@pytest.fixture
def run(lfw, source, capsys):

    def call(*more: str, images: str = 'lfw', out: str = 'out') -> tuple[int, str, str]:
        code = lfw.main(['--images', str(source / images), '--pairs', str(source / 'pairs.txt'), '--out', str(source / out), *more])
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return call


@pytest.mark.filterwarnings('ignore::mmface.datasets.DataFormatWarning')
def test_nobody_is_both_trained_on_and_tested(run, source):
    code, told, _ = run('--fold', '2')
    assert code == 0
    assert '24 images of 8 people, 32 x 32' in told
    assert 'parts may share persons' in told
    names = [line.split('\t')[1] for line in (source / 'out/classes.tsv').read_text().splitlines()]
    assert names == [person(number) for number in (0, 1, 2, 3, 8, 9, 10, 11)]
    records = open_records(source / 'out')
    assert records.num_classes == 8
    for at in range(len(records)):
        name = names[records.labels[at]]
        assert bytes(records.read(at)) == (source / f'lfw/{name}/{name}_{at % 3 + 1:04d}.jpg').read_bytes()
    assert set(open_eval(source / 'out/test').identities) == {person(number) for number in range(4, 8)}


@pytest.mark.filterwarnings('ignore::mmface.datasets.DataFormatWarning')
def test_the_pairs_of_the_fold_are_cut_in_file_order_into_ten_parts(run, source):
    assert run('--fold', '2')[0] == 0
    whole, parts = open_eval(source / 'pairs.txt', images=source / 'lfw'), open_eval(source / 'out/test')

    def pairs(found, same: bool, fold=None) -> list:
        rows = (found.same == same) & (True if fold is None else found.fold == fold)
        return [tuple(Path(found.paths[row]).name for row in pair) for pair in found.pairs[rows]]

    for same in (True, False):
        assert pairs(parts, same) == pairs(whole, same, 1)
    assert parts.fold.tolist() == [part for part in range(10) for _ in range(2)]
    assert [int(parts.same[parts.fold == part].sum()) for part in range(10)] == [1] * 10
    assert Path(parts.paths[0]).read_bytes() == (source / 'lfw/Person_E/Person_E_0001.jpg').read_bytes()


@pytest.mark.filterwarnings('ignore::mmface.datasets.DataFormatWarning')
def test_an_archive_gives_the_same_as_a_folder_and_its_traps_are_passed_over(run, source):
    with tarfile.open(source / 'lfw.tar', 'w') as archive:
        archive.add(source / 'lfw', '.')
        trap = tarfile.TarInfo('Person_Z/Person_Z_0001.jpg')
        trap.type, trap.linkname = tarfile.SYMTYPE, '/etc/passwd'
        archive.addfile(trap)
        outside = tarfile.TarInfo('../.._0001.jpg')
        outside.size = 1
        archive.addfile(outside, io.BytesIO(b'x'))
    assert run('--fold', '1')[0] == run('--fold', '1', images='lfw.tar', out='from_tar')[0] == 0
    files = sorted(path.relative_to(source / 'out') for path in (source / 'out').rglob('*') if path.is_file())
    assert files == sorted(path.relative_to(source / 'from_tar') for path in (source / 'from_tar').rglob('*') if path.is_file())
    assert all((source / 'out' / file).read_bytes() == (source / 'from_tar' / file).read_bytes() for file in files)


@pytest.mark.filterwarnings('ignore::mmface.datasets.DataFormatWarning')
def test_people_with_few_images_can_be_left_out_of_training(run, source):
    (source / 'lfw/Person_L/Person_L_0002.jpg').unlink()
    assert '21 images of 7 people' in run('--fold', '1', '--min-images', '3')[1]


@pytest.mark.filterwarnings('ignore::mmface.datasets.DataFormatWarning')
def test_bad_input_leaves_nothing_behind(run, source, jpeg):
    before = {path.name for path in source.iterdir()}
    broken, odd = source / 'lfw/Person_K/Person_K_0002.jpg', source / 'lfw/Person_L/Person_L_0003.jpg'
    keep = broken.read_bytes()
    broken.write_bytes(keep[:200])
    code, _, told = run('--fold', '1')
    assert (code, 'Person_K/Person_K_0002.jpg: ' in told, 'cannot be decoded' in told) == (2, True, True)
    broken.write_bytes(keep)
    odd.write_bytes(jpeg(0, (40, 32)))
    code, _, told = run('--fold', '1')
    assert (code, '40 x 32 pixels: others have 32 x 32' in told) == (2, True)
    (source / 'lfw/Person_A/Person_A_0001.jpg').unlink()
    code, _, told = run('--fold', '1')
    assert (code, '1 images of fold 1 are missing: Person_A/Person_A_0001' in told) == (2, True)
    code, _, told = run('--fold', '3')
    assert (code, 'no fold 3: it has 1 to 2' in told) == (2, True)
    assert {path.name for path in source.iterdir()} == before


@pytest.mark.filterwarnings('ignore::mmface.datasets.DataFormatWarning')
def test_an_existing_folder_is_not_written_into(run, source):
    (source / 'out').mkdir()
    code, _, told = run()
    assert (code, 'exists already' in told) == (2, True)
    assert list((source / 'out').iterdir()) == []
