"""Time and private memory of opening large RecordIO sets, on sets made on the spot.

    python tools/analysis/benchmark_records.py                                     a million images, half a minute
    python tools/analysis/benchmark_records.py --images 17091657 42474557          Glint360K's and WebFace42M's numbers: 6.5 GB of disk

A set is laid out as InsightFace's are (20.6 images an identity, header last), its images are PNGs of four pixels. Every step is a process
of its own: the index alone, the first opening, the same without index, the second opening, which finds its table in the cache, and the
second opening up to the first batch of a DataLoader with one worker. The set has just been written, so that it is in memory: a first
opening from a disk takes as long as reading the file does. Memory is the peak of the process's anonymous memory beyond what it had after
its imports, from /proc: what is mapped from files and shared does not count.
"""
import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

IMAGES_AN_IDENTITY = 20.6
BATCH = 256
_BLOCK = 1 << 18


def picture() -> bytes:
    import cv2
    return cv2.imencode('.png', np.zeros((2, 2, 3), np.uint8))[1].tobytes()


def write_records(path: Path, images: int) -> int:
    """Writes ``path``, its index and ``property``; returns the number of records."""
    from mmface.datasets.formats.recordio.frames import MAGIC
    identities, image = max(1, round(images / IMAGES_AN_IDENTITY)), picture()
    first = np.linspace(1, images + 1, identities + 1).astype(np.int64)
    padded = -(-len(image) // 4) * 4
    common = [('magic', '<u4'), ('length', '<u4'), ('flag', '<u4'), ('label', '<f4'), ('id', '<u8'), ('id2', '<u8')]
    with_image, ranges = np.dtype([*common, ('image', f'V{padded}')]), np.dtype([*common, ('ends', '<f4', 2)])

    def blocks() -> Iterator[tuple[np.ndarray, np.ndarray]]:
        for at in range(1, images + 1, _BLOCK):
            keys = np.arange(at, min(at + _BLOCK, images + 1))
            rows = np.zeros(len(keys), with_image)
            rows['magic'], rows['length'], rows['id'] = MAGIC, 24 + len(image), keys
            rows['label'] = np.searchsorted(first, keys, 'right') - 1
            rows['image'] = np.void(image.ljust(padded, b'\0'))
            yield keys, rows
        keys = np.append(np.arange(images + 1, images + 1 + identities), 0)
        rows = np.zeros(len(keys), ranges)
        rows['magic'], rows['length'], rows['flag'], rows['id'], rows['id2'][-1] = MAGIC, 32, 2, keys, 1
        rows['ends'][:-1, 0], rows['ends'][:-1, 1], rows['ends'][-1] = first[:-1], first[1:], (images + 1, images + 1 + identities)
        yield keys, rows

    at = 0
    with path.open('wb') as rec, path.with_suffix('.idx').open('wb') as idx:
        for keys, rows in blocks():
            rows.tofile(rec)
            offsets = range(at, at + rows.nbytes, rows.itemsize)
            idx.write(b''.join([b'%d\t%d\n' % line for line in zip(keys.tolist(), offsets, strict=True)]))
            at += rows.nbytes
    path.with_name('property').write_text(f'{identities},2,2\n')
    return images + identities + 1


def first_batch(path: Path) -> None:
    from torch.utils.data import DataLoader

    from mmface.datasets import FaceDataset, InfiniteFaceSampler, face_collate
    dataset = FaceDataset(str(path), pipeline=[dict(type='DecodeFace'), dict(type='PackFace')])
    loader = DataLoader(dataset, BATCH, sampler=InfiniteFaceSampler(dataset), num_workers=1, collate_fn=face_collate)
    next(iter(loader))


def work(step: str, path: Path) -> None:
    """One step, in a process of its own: says when its imports are done and waits, then says how long it took."""
    from mmface.datasets import open_records
    from mmface.datasets.formats.recordio.index import read_index
    print('ready', flush=True)
    sys.stdin.readline()
    begin = time.perf_counter(), time.process_time()
    steps = dict(index=lambda: read_index(path.with_suffix('.idx')), open=lambda: open_records(path), batch=lambda: first_batch(path))
    result = steps[step]()
    print('seconds', time.perf_counter() - begin[0], time.process_time() - begin[1], flush=True)
    sys.stdin.readline()
    del result


def measure(step: str, path: Path, cache: Path) -> dict:
    """Seconds of the clock and of the processor, and MiB, of a step."""
    environment = dict(os.environ, MMENGINE_HOME=str(cache))
    with subprocess.Popen([sys.executable, __file__, '--work', step, str(path)], env=environment, stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, text=True, bufsize=1) as process:
        answer(process, 'ready')
        before = anonymous_memory(process.pid)
        peaks, done = [before], threading.Event()

        def sample() -> None:
            while not done.wait(.005):
                peaks.append(max(peaks.pop(), anonymous_memory(process.pid)))

        sampler = threading.Thread(target=sample)
        sampler.start()
        process.stdin.write('\n')
        try:
            seconds = answer(process, 'seconds')
        finally:
            done.set()
            sampler.join()
        process.stdin.write('\n')
    wall, cpu = map(float, seconds.split())
    return dict(seconds=wall, cpu_seconds=cpu, mib=(peaks[0] - before) / 1024)


def answer(process: subprocess.Popen, word: str) -> str:
    """What stands behind ``word`` in the next line that begins with it; between them are log lines."""
    for line in process.stdout:
        if line.startswith(word):
            return line.removeprefix(word).strip()
    raise RuntimeError('the step failed, see above')


def anonymous_memory(pid: int) -> int:
    """KiB; 0 where the system has no /proc."""
    try:
        lines = Path(f'/proc/{pid}/status').read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith('RssAnon')), 0)


def benchmark(images: int, folder: Path) -> dict:
    """Makes a set, takes all steps and removes it."""
    path, cache = folder / 'train.rec', folder / 'cache'
    lines = write_records(path, images)
    os.utime(path, (0, 0))  # not just written: such sets are not cached
    os.utime(path.with_suffix('.idx'), (0, 0))
    rows = {'index alone': measure('index', path, cache)}
    hidden = path.with_suffix('.hidden')
    path.with_suffix('.idx').rename(hidden)
    rows['first opening, no index'] = measure('open', path, cache)
    hidden.rename(path.with_suffix('.idx'))
    rows['first opening'] = measure('open', path, cache)
    rows['second opening'] = measure('open', path, cache)
    rows['second opening to first batch'] = measure('batch', path, cache)
    return dict(images=images, lines=lines, idx_bytes=path.with_suffix('.idx').stat().st_size, rec_bytes=path.stat().st_size, steps=rows)


def table(results: list[dict]) -> str:
    lines = ['| images | lines of the index | step | seconds | CPU seconds | MiB |', '|---:|---:|---|---:|---:|---:|']
    lines += [f'| {result["images"]:,} | {result["lines"]:,} | {step} | {row["seconds"]:.2f} | {row["cpu_seconds"]:.2f} '
              f'| {row["mib"]:.0f} |' for result in results for step, row in result['steps'].items()]
    return '\n'.join(lines)


def parse_args(argv: list[str] | None = None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--images', type=int, nargs='+', default=[1_000_000], help='sizes of the sets (default: %(default)s)')
    parser.add_argument('--folder', type=Path, help="where to make them, 110 bytes an image (default: the system's temporary folder)")
    parser.add_argument('--out', type=Path, help='folder for records.json and records.md')
    parser.add_argument('--work', nargs=2, help=argparse.SUPPRESS)
    return parser.parse_args(argv)


def main(argv: list[str] | None = None) -> int:
    args = parse_args(argv)
    if args.work:
        work(args.work[0], Path(args.work[1]))
        return 0
    results = []
    for images in args.images:
        folder = Path(tempfile.mkdtemp(prefix='records-', dir=args.folder))
        try:
            results.append(benchmark(images, folder))
        finally:
            shutil.rmtree(folder)
    print(table(results))
    if args.out:
        args.out.mkdir(parents=True, exist_ok=True)
        (args.out / 'records.json').write_text(json.dumps(results, indent=1))
        (args.out / 'records.md').write_text(table(results) + '\n')
    return 0


if __name__ == '__main__':
    sys.exit(main())
