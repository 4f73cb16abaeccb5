"""Converters of training sets: the same images and labels, whatever happens on the way."""
import importlib.util
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from mmface.datasets import DataFormatError, open_records
from mmface.datasets.formats.recordio.set_writer import write_rec
from mmface.datasets.formats.writing.folder_writer import write_folder

TOOLS = Path(__file__).resolve().parents[2] / 'tools/dataset_converters'
WRITERS = {'to_rec': write_rec, 'to_folder': write_folder}
IMAGES, STUCK = 200, 150  # the images of a long conversion, and the one that it waits for


def load(tool: str):
    spec = importlib.util.spec_from_file_location(tool, TOOLS / f'{tool}.py')
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(params=WRITERS)
def tool(request):
    return request.param


def run(tool: str, *arguments: object) -> int:
    return load(tool).main([*map(str, arguments)])


def content(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob('*') if path.is_file()}


def images(records) -> list[tuple[int, bytes]]:
    return sorted((int(records.labels[at]), bytes(records.read(at))) for at in range(len(records)))


def test_a_rec_written_again_has_the_bytes_that_insightface_wrote(shared, tmp_path, capsys):
    source = shared / 'reference/fixtures/rec/insightface'
    assert run('to_rec', source, tmp_path / 'out') == 0
    assert content(tmp_path / 'out') == {name: (source / name).read_bytes() for name in ('train.rec', 'train.idx', 'property')}
    assert '18 images of 6 classes written to' in capsys.readouterr().out


@pytest.mark.parametrize('variant', ['face2rec2', 'im2rec', 'label_gaps', 'multipart', 'shuffled_no_idx'])
def test_there_and_back_images_and_labels_stay_the_same(shared, tmp_path, variant, monkeypatch):
    broken = {'multipart'}  # its images are no images: bytes that hold the magic word
    if variant in broken:
        monkeypatch.setattr('mmface.datasets.formats.writing.conversion.check_image', lambda *_: (112, 112))
        monkeypatch.setattr('mmface.datasets.formats.recordio.set_writer.check_image', lambda *_: (112, 112))
    source = open_records(shared / f'reference/fixtures/rec/{variant}/train.rec')
    write_folder(source, tmp_path / 'folder')
    folder = open_records(tmp_path / 'folder', labels='name')
    write_rec(folder, tmp_path / 'rec')
    rec = open_records(tmp_path / 'rec')
    assert images(source) == images(folder) == images(rec)
    assert rec.labels.tolist() == sorted(source.labels.tolist())
    assert rec.num_classes == source.labels.max() + 1


def test_files_are_called_after_their_content_and_sort_as_numbers(shared, tmp_path):
    write_folder(open_records(shared / 'reference/fixtures/rec/im2rec'), tmp_path / 'out')
    assert sorted(content(tmp_path / 'out')) == ['0/0.jpg', '0/1.jpg', '1/2.jpg', '1/4.jpg', '2/3.png', '2/5.jpg']


def test_names_of_classes_travel_along(tree, tmp_path):
    records = open_records(tree('Ada/1.jpg', 'Zoë Ångström/1.jpg', 'x/y/2.jpg'))
    for step, write in enumerate((write_rec, write_rec, write_folder)):
        write(records, tmp_path / f'step{step}')
        assert (tmp_path / f'step{step}/classes.tsv').read_text('utf-8') == '0\tAda\n1\tZoë Ångström\n2\tx/y\n'
        records = open_records(tmp_path / f'step{step}')
        assert step == 2 or records.classes == {'Ada': 0, 'Zoë Ångström': 1, 'x/y': 2}


def test_a_class_name_that_would_break_the_list_is_refused(tree, tmp_path):
    with pytest.raises(DataFormatError, match=r"class 'A\\tda': rename it"):
        write_rec(open_records(tree('A\tda/1.jpg')), tmp_path / 'out')
    assert not (tmp_path / 'out').exists()


def test_a_broken_image_stops_the_conversion_and_mended_it_goes_on(tool, tree, tmp_path, capsys, jpeg):
    root = tree('a/1.jpg', 'a/2.jpg', 'b/1.jpg')
    whole = (root / 'a/2.jpg').read_bytes()
    (root / 'a/2.jpg').write_bytes(whole[:300])
    assert run(tool, root, tmp_path / 'out') == 2
    assert 'a/2.jpg: JPEG that cannot be decoded' in capsys.readouterr().err
    assert not (tmp_path / 'out').exists()
    (root / 'a/2.jpg').write_bytes(whole)
    assert run(tool, root, tmp_path / 'out') == 0
    assert len(open_records(tmp_path / 'out')) == 3


def test_broken_images_are_skipped_up_to_a_share_and_listed(tool, tree, tmp_path, capsys):
    root = tree(*(f'{person}/{image}.jpg' for person in 'abc' for image in range(4)))
    for name in ('a/0.jpg', 'b/3.jpg'):
        (root / name).write_bytes(b'')
    expected = [image for image in images(open_records(root)) if image[1]]
    assert run(tool, root, tmp_path / 'out', '--max-skipped', '.1') == 2
    assert 'b/3.jpg: empty file, no image bytes: 1 images were skipped before it, more are not allowed' in capsys.readouterr().err
    assert run(tool, root, tmp_path / 'out', '--max-skipped', '.2') == 3
    assert '10 images of 3 classes written to' in (told := capsys.readouterr().out) and '2 skipped, see skipped.tsv' in told
    assert (tmp_path / 'out/skipped.tsv').read_text() == ''.join(f'{name}\tempty file, no image bytes\n' for name in ('a/0.jpg', 'b/3.jpg'))
    assert images(open_records(tmp_path / 'out')) == expected


def test_a_rec_has_images_of_one_size(tree, tmp_path, jpeg, capsys):
    root = tree('a/1.jpg', 'a/2.jpg')
    (root / 'a/2.jpg').write_bytes(jpeg(0, (112, 96)))
    assert run('to_rec', root, tmp_path / 'out') == 2
    assert 'a/2.jpg: 112 x 96 pixels: others have 112 x 112: align them all' in capsys.readouterr().err
    assert run('to_folder', root, tmp_path / 'out') == 0


def test_what_is_there_already_is_not_touched(tool, tree, tmp_path, capsys):
    (tmp_path / 'out').mkdir()
    assert run(tool, tree('a/1.jpg'), tmp_path / 'out') == 2
    assert 'exists already' in capsys.readouterr().err
    assert list((tmp_path / 'out').iterdir()) == []


CHILD = """
import os, threading
os.sync = lambda: None  # a kill leaves what the system has; a real one may wait for what others write
threading.excepthook = lambda failure: (print(failure.exc_value), os._exit(1))
from pathlib import Path
from mmface.datasets import open_records
from mmface.datasets.formats.writing.folder_writer import write_folder
from mmface.datasets.formats.recordio.set_writer import write_rec
threads = [threading.Thread(target=write, args=(open_records('set'), Path(tool)), kwargs=dict(workers=2, interval=64))
           for tool, write in dict(to_rec=write_rec, to_folder=write_folder).items()]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""


@pytest.mark.skipif(not hasattr(os, 'mkfifo'), reason='the conversion is held up by a named pipe')
def test_a_killed_conversion_leaves_nothing_under_the_name_and_goes_on_where_it_was(tmp_path, jpeg):
    files = [tmp_path / f'set/{at // 8:03d}/{at:03d}.jpg' for at in range(IMAGES)]
    for at, file in enumerate(files):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(jpeg(at, (16, 16)))
    for tool, write in WRITERS.items():
        write(open_records(tmp_path / 'set'), tmp_path / f'expected/{tool}')
    stuck = files[STUCK].read_bytes()
    files[STUCK].unlink()
    os.mkfifo(files[STUCK])

    process = subprocess.Popen([sys.executable, '-c', CHILD], env=dict(os.environ, OMP_NUM_THREADS='1'), cwd=tmp_path)
    journals = [tmp_path / f'.{tool}.partial/progress.json' for tool in WRITERS]
    deadline = time.monotonic() + 120
    while not all(journal.is_file() and '"done": 128' in journal.read_text() for journal in journals):
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(.02)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert not any((tmp_path / tool).exists() for tool in WRITERS)

    files[STUCK].unlink()
    files[STUCK].write_bytes(stuck)
    for at in range(1, 128):  # what is done is not done again, not even looked at
        files[at].write_bytes(b'broken')
    for torn in (tmp_path / '.to_rec.partial').glob('train.*'):  # a power cut may leave more than was safe
        torn.write_bytes(torn.read_bytes() + b'torn')
    for tool, write in WRITERS.items():
        write(open_records(tmp_path / 'set'), tmp_path / tool)
        assert content(tmp_path / tool) == content(tmp_path / f'expected/{tool}')
    assert not any(journal.parent.exists() for journal in journals)
