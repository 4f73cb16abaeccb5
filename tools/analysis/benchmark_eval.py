#!/usr/bin/env python
"""Time and memory of evaluation, beside what the other projects do, on synthetic embeddings of the real size.

    python tools/analysis/benchmark_eval.py --out work_dirs/eval            every work, the tables of docs/evaluate.md
    python tools/analysis/benchmark_eval.py --work ten_folds --rounds 3     one of them
    python tools/analysis/benchmark_eval.py --work search --scale 0.1       a tenth of it

In every round each contestant runs once, in turn; wall and CPU time are medians over the rounds, after one round that does not count. What
two contestants of a work give is compared before anything is timed. Memory is how far one run raises the process's resident peak (Linux).
Where other programs run, only CPU time and ratios say something. ``peer`` is another project's algorithm, step by step in our own words: a
baseline to time, not code to use; those that take a minute run once.
"""
import argparse
import ctypes
import json
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch

from mmface.evaluation import TenFoldVerification
from mmface.functional.auc_interval import auc_interval
from mmface.functional.embedding_rows import EmbeddingRows
from mmface.functional.equal_error_rate import equal_error_rate
from mmface.functional.operating_point import tar_at_far
from mmface.functional.roc import roc_curve
from mmface.functional.search import search
from mmface.functional.template_pairs import pair_scores
from mmface.functional.templates import group_templates, pool_templates
from mmface.structures import PairSet

MIB = 2**20
DIM = 512


class Contestant(NamedTuple):
    """A way to do a work. ``precision`` is that of products and sums: the column that its time stands in. ``once`` is for what is slow."""
    name: str
    precision: str
    run: Callable[[], Any]
    once: bool = False


class Work(NamedTuple):
    """What is to be done, how, and what all ways have to agree on (raises where they do not)."""
    title: str
    contestants: list[Contestant]
    check: Callable[[list[Any]], None]


def ten_folds(pairs: int = 6000) -> Iterator[Work]:
    """Ten folds, VAL@FAR=1e-3: what InsightFace's ``evaluate`` works out, from unit embeddings in the order of a ``.bin`` pack."""
    random, same = np.random.default_rng(0), np.tile(np.repeat([True, False], pairs // 20), 10)
    rows = random.normal(size=(pairs, 2, DIM))
    rows[same, 1] = rows[same, 0] + 8 * rows[same, 1]  # nine in ten are told apart
    rows = rows.reshape(-1, DIM)
    rows = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    pair_set = PairSet('synthetic', [str(row) for row in range(2 * pairs)], np.arange(2 * pairs).reshape(-1, 2), same,
                       np.repeat(np.arange(10), pairs // 10))

    def grid(precision: str) -> list[float]:
        protocol = TenFoldVerification(precision=precision)
        similarity = protocol.similarity(pair_set, rows)
        return [protocol.accuracy(pair_set, similarity)['accuracy'], protocol.val(pair_set, similarity)['peer']['val']]

    def exact(precision: str) -> float:
        protocol = TenFoldVerification(rule='exact', precision=precision)
        return protocol.accuracy(pair_set, protocol.similarity(pair_set, rows))['accuracy']

    def check(found: list[list[float]]) -> None:
        for grid in (found[1], found[4]):
            np.testing.assert_allclose(grid, found[0], rtol=0, atol=2 / pairs, err_msg='the grid rule')  # a pair on a threshold

    contestants = [Contestant('peer: InsightFace, a loop over thresholds', 'float32', partial(peer_evaluate, rows, same))]
    for precision in ('float32', 'float64'):
        contestants += [
            Contestant('the same, accuracy by the grid and VAL', precision, partial(grid, precision)),
            Contestant('accuracy by exact thresholds', precision, partial(exact, precision)),
            Contestant('everything that the protocol gives', precision, partial(TenFoldVerification(precision=precision), pair_set, rows)),
        ]
    yield Work(f'ten folds, {pairs:,} pairs', contestants, check)


def peer_evaluate(rows: np.ndarray, same: np.ndarray) -> list[float]:
    """Accuracy and VAL as ``recognition/arcface_torch/eval/verification.py`` goes about them: every threshold, one comparison at a time."""
    accuracy, val = [], []
    for fold in np.array_split(np.arange(len(same)), 10):
        train = np.setdiff1d(np.arange(len(same)), fold)
        distance = ((rows[0::2] - rows[1::2])**2).sum(1)
        right = [peer_right(distance[train], same[train], threshold) for threshold in np.arange(0, 4, 0.01)]
        for threshold in np.arange(0, 4, 0.01):  # the ROC of the tested fold
            peer_right(distance[fold], same[fold], threshold)
        accuracy.append(peer_right(distance[fold], same[fold], np.arange(0, 4, 0.01)[np.argmax(right)]) / len(fold))
    for fold in np.array_split(np.arange(len(same)), 10):
        train = np.setdiff1d(np.arange(len(same)), fold)
        distance = ((rows[0::2] - rows[1::2])**2).sum(1)
        grid = np.arange(0, 4, 0.001)
        fars = np.array([peer_far(distance[train], same[train], threshold) for threshold in grid])
        below = int(np.searchsorted(fars, 1e-3, side='right')) - 1
        low, high = fars[below], fars[below + 1]  # SciPy's interpolation as it was until 1.8
        threshold = 0. if fars.max() < 1e-3 else grid[below] + (1e-3 - low) / (high - low) * 0.001
        val.append((distance[fold][same[fold]] < threshold).mean())
    return [float(np.mean(accuracy)), float(np.mean(val))]


def peer_right(distance: np.ndarray, same: np.ndarray, threshold: float) -> int:
    accepted = np.less(distance, threshold)
    counts = [np.sum(np.logical_and(one, other)) for one in (accepted, np.logical_not(accepted)) for other in (same, np.logical_not(same))]
    return int(counts[0] + counts[3])


def peer_far(distance: np.ndarray, same: np.ndarray, threshold: float) -> float:
    accepted = np.less(distance, threshold)
    np.sum(np.logical_and(accepted, same)), np.sum(same)
    return np.sum(np.logical_and(accepted, np.logical_not(same))) / np.sum(np.logical_not(same))


def template_scores(scale: float = 1) -> Iterator[Work]:
    """The scores of IJB-C's 15.66 million template pairs, listed by their first template, from unit templates."""
    random = np.random.default_rng(0)
    enrolled, probes, count = round(3531 * scale), round(19593 * scale), round(15_658_489 * scale**2)
    unit = random.normal(size=(enrolled + probes, DIM))
    unit = (unit / np.linalg.norm(unit, axis=1, keepdims=True)).astype(np.float32)
    ids = np.sort(random.choice(10 * len(unit), len(unit), replace=False))
    each = np.diff(np.linspace(0, count, enrolled + 1).astype(int))
    second = np.concatenate([np.sort(random.choice(probes, n, replace=False)) for n in each])
    pairs = np.stack([np.repeat(ids[:enrolled], each), ids[enrolled + second]], 1)

    def check(found: list[np.ndarray]) -> None:
        for other in found[1:]:
            np.testing.assert_allclose(other, found[0], rtol=0, atol=1e-6)

    contestants = [Contestant('peer: InsightFace, rows gathered for 100,000 pairs at a time', 'float64',
                              partial(peer_template_scores, unit.astype(np.float64), ids, pairs), once=True)]
    contestants += [Contestant('template scores', precision, partial(pair_scores, unit.astype(precision), ids, pairs, None, precision))
                    for precision in ('float32', 'float64')]  # yapf: disable
    yield Work(f'{count:,} template scores', contestants, check)


def peer_template_scores(unit: np.ndarray, ids: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    """As ``verification`` of InsightFace's ``eval_ijbc.py`` goes about it."""
    row_of = np.zeros((ids.max() + 1, 1), int)
    for row, one in enumerate(ids):
        row_of[one] = row
    scores = np.zeros(len(pairs))
    for start in range(0, len(pairs), 100_000):
        first, second = (unit[row_of[side]] for side in pairs[start:start + 100_000].T)
        scores[start:start + 100_000] = np.sum(first * second, -1).flatten()
    return scores


def template_roc(scale: float = 1) -> Iterator[Work]:
    """TAR at six FARs from IJB-C's numbers of scores."""
    random = np.random.default_rng(0)
    genuine, impostor = random.normal(0.6, 0.15, round(19557 * scale)), random.normal(0, 0.1, round(15_638_932 * scale))
    fars = [10.**-digits for digits in range(6, 0, -1)]
    labels = np.repeat([1, 0], [len(genuine), len(impostor)])

    def head(precision: str) -> list[float]:
        roc = roc_curve(*kinds[precision], max_far=max(fars))
        return [tar_at_far(roc, far).tar for far in fars]

    def whole(precision: str) -> list[float]:
        roc = roc_curve(*kinds[precision])
        auc_interval(roc), equal_error_rate(roc)
        return [tar_at_far(roc, far).tar for far in fars]

    def check(found: list[list[float]]) -> None:
        for other in found[1:]:
            np.testing.assert_allclose(other, found[0], rtol=0, atol=50 / len(genuine), err_msg='strict and nearest')

    kinds = {precision: (genuine.astype(precision), impostor.astype(precision)) for precision in ('float32', 'float64')}
    contestants = [Contestant('peer: scikit-learn, then the nearest FAR in a list', 'float64',
                              partial(peer_tars, np.concatenate([genuine, impostor]), labels, fars))]
    contestants += [Contestant(name, precision, partial(way, precision)) for name, way in (
        ('the head of the ROC', head), ('the whole ROC, AUC with its interval, EER', whole)) for precision in kinds]  # yapf: disable
    yield Work(f'TAR at six FARs, {len(impostor):,} impostors', contestants, check)


def peer_tars(scores: np.ndarray, labels: np.ndarray, fars: list[float]) -> list[float]:
    """As InsightFace's ``eval_ijbc.py`` goes about it."""
    from sklearn.metrics import roc_curve as sklearn_roc_curve
    far, tar, _ = sklearn_roc_curve(labels, scores)
    far, tar = np.flipud(far), np.flipud(tar)
    return [float(tar[min(zip(abs(far - target), range(len(far)), strict=True))[1]]) for target in fars]


def template_pooling(scale: float = 1) -> Iterator[Work]:
    """IJB-C's images to templates: the mean over each medium, then the sum over media."""
    random, images = np.random.default_rng(0), round(469_375 * scale)
    rows = random.standard_normal((images, DIM), np.float32)
    template = np.sort(random.integers(0, round(23_124 * scale), images))
    media, image = np.arange(images) // 3, np.arange(images)

    def pool(precision: str) -> np.ndarray:
        groups = group_templates(template, media, image)
        return pool_templates(lambda at, dtype: rows[at].astype(dtype, copy=False), image, groups, 1 / groups.media_size, dtype=precision)

    def check(found: list[np.ndarray]) -> None:
        for other in found[1:]:
            np.testing.assert_allclose(other, found[0], rtol=0, atol=1e-4)

    contestants = [Contestant('peer: InsightFace, a loop over templates', 'float64', partial(peer_pool, rows, template, media))]
    contestants += [Contestant('templates', precision, partial(pool, precision)) for precision in ('float32', 'float64')]
    yield Work(f'{images:,} images to {len(np.unique(template)):,} templates', contestants, check)


def peer_pool(rows: np.ndarray, template: np.ndarray, media: np.ndarray) -> np.ndarray:
    """As ``image2template_feature`` of InsightFace's ``eval_ijbc.py`` goes about it."""
    ids = np.unique(template)
    pooled = np.zeros((len(ids), rows.shape[1]))
    for at, one in enumerate(ids):
        here, = np.where(template == one)
        images, media_here, parts = rows[here], media[here], []
        for medium, count in zip(*np.unique(media_here, return_counts=True), strict=True):
            of_medium, = np.where(media_here == medium)
            parts += [images[of_medium] if count == 1 else np.mean(images[of_medium], axis=0, keepdims=True)]
        pooled[at] = np.sum(np.array(parts), axis=0)
    return pooled


def gallery_search(scale: float = 1) -> Iterator[Work]:
    """The 20 nearest of a million gallery rows, for 1,000 probes; the matrix product alone is what cannot be saved."""
    random = np.random.default_rng(0)
    gallery = random.standard_normal((round(1e6 * scale), DIM), np.float32)
    gallery /= np.linalg.norm(gallery, axis=1, keepdims=True)
    unit = random.normal(size=(1000, DIM))
    unit /= np.linalg.norm(unit, axis=1, keepdims=True)
    single = unit.astype(np.float32)

    def ours() -> np.ndarray:
        return search(unit, EmbeddingRows(gallery, range(len(gallery))), 20).row

    def product(probes: np.ndarray) -> None:
        block, kept = 8192, np.empty((len(probes), 8192), probes.dtype)
        for start in range(0, len(gallery), block):
            rows = gallery[start:start + block].astype(probes.dtype, copy=False)
            np.matmul(probes, rows.T, out=kept[:, :len(rows)])

    def check(found: list[np.ndarray | None]) -> None:
        rows = [one for one in found if one is not None]
        for other in rows[1:]:
            wrong = np.count_nonzero(np.sort(other, 1) != np.sort(rows[0], 1))
            np.testing.assert_array_less(wrong, other.size / 1000, err_msg='the nearest: float32 may swap the last')

    contestants = [
        Contestant('the matrix product alone', 'float32', partial(product, single)),
        Contestant('the matrix product alone', 'float64', partial(product, unit)),
        Contestant('peer: InsightFace, all scores sorted', 'float32', partial(peer_search, single, gallery), once=True),
        Contestant('search: float32 product, exact cosines', 'float32', ours)]
    if find_spec('faiss'):
        index = faiss_index(gallery)
        contestants.append(Contestant('faiss, IndexFlatIP, once it is built', 'float32', partial(faiss_search, single, index)))
    yield Work(f'20 nearest of {len(gallery):,} for 1,000 probes', contestants, check)


def peer_search(probes: np.ndarray, gallery: np.ndarray) -> np.ndarray:
    """As InsightFace's ``ijb_1n.py`` goes about it, a hundred probes at a time to stay within memory."""
    return np.concatenate([np.argsort(-(probes[start:start + 100] @ gallery.T), axis=1)[:, :20] for start in range(0, len(probes), 100)])


def faiss_index(gallery: np.ndarray) -> Any:
    import faiss
    index = faiss.IndexFlatIP(gallery.shape[1])
    index.add(gallery)
    return index


def faiss_search(probes: np.ndarray, index: Any) -> np.ndarray:
    return index.search(probes, 20)[1]


#: A further work is a further function here, which yields what is to be timed, at a share of the real size.
WORKS: dict[str, Callable[[float], Iterator[Work]]] = dict(
    ten_folds=lambda scale: ten_folds(20 * round(300 * scale)), pooling=template_pooling, scores=template_scores, roc=template_roc,
    search=gallery_search)


def measure(work: Work, rounds: int) -> list[dict]:
    """For each contestant its median times in ms and the MiB by which it raises the resident peak; None where that cannot be told."""
    first = [run_once(contestant) for contestant in work.contestants]
    work.check([found for found, _, _ in first])
    times = [[sample] if contestant.once else [] for contestant, (_, sample, _) in zip(work.contestants, first, strict=True)]
    for _ in range(rounds):
        for contestant, samples in zip(work.contestants, times, strict=True):
            if not contestant.once:
                samples.append(timed(contestant.run)[1])
    return [
        dict(
            name=contestant.name,
            precision=contestant.precision,
            ms=1e3 * statistics.median(wall for wall, _ in samples),
            cpu_ms=1e3 * statistics.median(cpu for _, cpu in samples),
            peak=peak if contestant.once else peak_memory(contestant.run))
        for contestant, samples, (_, _, peak) in zip(work.contestants, times, first, strict=True)
    ]


def run_once(contestant: Contestant) -> tuple[Any, tuple[float, float], float | None]:
    """What it finds, its wall and CPU seconds, and the MiB that it takes."""
    kept: list[tuple[Any, tuple[float, float]]] = []
    peak = peak_memory(lambda: kept.append(timed(contestant.run)))
    found, sample = kept[0] if kept else timed(contestant.run)
    return found, sample, peak


def timed(run: Callable[[], Any]) -> tuple[Any, tuple[float, float]]:
    """What it finds, and its wall and CPU seconds."""
    wall, cpu = time.perf_counter(), time.process_time()
    found = run()
    return found, (time.perf_counter() - wall, time.process_time() - cpu)


def peak_memory(run: Callable[[], Any]) -> float | None:
    """How many MiB of resident memory a run takes beyond what there is before it."""
    status = Path('/proc/self/status')
    try:
        ctypes.CDLL(None).malloc_trim(0)  # what earlier runs have freed does not count as theirs
        Path('/proc/self/clear_refs').write_text('5')  # forgets the peak so far
        before = resident(status, 'VmRSS')
        run()
        return (resident(status, 'VmHWM') - before) / MIB
    except (OSError, AttributeError):
        return None


def resident(status: Path, field: str) -> int:
    """Bytes, from the kernel's account of this process."""
    line = next(line for line in status.read_text().splitlines() if line.startswith(f'{field}:'))
    return int(line.split()[1]) * 1024


def table(title: str, results: list[dict]) -> str:
    """Names with times and memory, float32 and float64 side by side."""
    lines = [f'**{title}**', '', '| | float32: ms | CPU ms | MiB | float64: ms | CPU ms | MiB |', '|---|---|---|---|---|---|---|']
    for name in dict.fromkeys(result['name'] for result in results):
        cells = []
        for precision in ('float32', 'float64'):
            found = next((result for result in results if (result['name'], result['precision']) == (name, precision)), None)
            cells += ['-'] * 3 if found is None else [
                f'{found["ms"]:.1f}', f'{found["cpu_ms"]:.1f}', '-' if found['peak'] is None else f'{found["peak"]:.0f}']
        lines.append(f'| {name} | {" | ".join(cells)} |')
    return '\n'.join(lines) + '\n'


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--work', nargs='+', choices=WORKS, default=list(WORKS), metavar='WORK', help=f'of {", ".join(WORKS)}')
    parser.add_argument('--rounds', type=int, default=7)
    parser.add_argument('--scale', type=float, default=1., help='share of the real number of images (default: %(default)s)')
    parser.add_argument('--threads', type=int, default=2)
    parser.add_argument('--out', type=Path, help='folder for tables.md and results.json')
    args = parser.parse_args(argv)
    torch.set_num_threads(args.threads)
    conditions = f'{args.threads} threads, NumPy {np.__version__}, torch {torch.__version__}, {args.rounds} rounds'
    print(conditions, end='\n\n')
    text, collected = [conditions + '\n'], {}
    for name in args.work:
        for work in WORKS[name](args.scale):
            results = collected[work.title] = measure(work, args.rounds)
            text.append(table(work.title, results))
            print(text[-1], flush=True)
    if args.out is not None:
        args.out.mkdir(parents=True, exist_ok=True)
        (args.out / 'tables.md').write_text('\n'.join(text))
        (args.out / 'results.json').write_text(json.dumps(dict(conditions=conditions, results=collected), indent=1))
    return 0


if __name__ == '__main__':
    sys.exit(main())
