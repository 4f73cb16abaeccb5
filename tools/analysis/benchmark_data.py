#!/usr/bin/env python
"""How fast images come from disk to a batch, beside decoding alone, OpenMMLab's default and a per-image chain.

    python tools/analysis/benchmark_data.py --out work_dirs/data              the tables of docs/performance.md, a few minutes
    python tools/analysis/benchmark_data.py --records data/ms1mv2/train.rec   one's own images (the first few thousand)

First table, one process: CPU time an image, and the speed as a fraction of that of decoding alone in the same round; medians over rounds in
which all take turns. Decoding alone is OpenCV on bytes that are in memory. Second table: images a second out of a DataLoader, wall time,
what follows in the training process left out; it says something only where nothing else runs.

Without --records the images are procedural faces, 112 x 112, JPEG of quality 95.
"""
import argparse
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import cv2
import numpy as np
import torch
from mmengine.dataset import pseudo_collate
from mmengine.registry import DefaultScope
from torch.utils.data import DataLoader
from torchvision import transforms

import mmface  # noqa: F401  (mends MMEngine)
from mmface.datasets import FaceDataset, FaceSampler, face_collate, open_records
from mmface.datasets.formats.recordio.writer import write_training_set
from mmface.datasets.procedural import ProceduralFaces
from mmface.registry import DATASETS, MODELS

MEAN = STD = (127.5, 127.5, 127.5)
FLIP = dict(type='RandomFlip', prob=.5)
ADAFACE = [dict(type='RandomCropInPlace'), dict(type='RandomLowResolution'), dict(type='RandomPhotometric')]
PIPELINES = {
    'uint8 batch': [],
    'uint8 batch with flip': [FLIP],
    'normalised batch with flip': [FLIP],
    "normalised batch with AdaFace's augmentation and flip": [*ADAFACE, FLIP],
}


def write_images(folder: Path, records: str | None, count: int) -> int:
    """``folder/train.rec`` and the same as ``folder/images/<label>/<n>.jpg``; returns how many."""
    if records is None:
        faces = ProceduralFaces()
        pictures = [[encode(faces.draw(person, at)[0]) for at in range(8)] for person in range(count // 8)]
    else:
        reader = open_records(records)
        pictures = [[bytes(reader.read(at))] for at in range(min(count, len(reader)))]
    write_training_set(folder / 'train.rec', pictures)
    for label, images in enumerate(pictures):
        (folder / f'images/{label:05}').mkdir(parents=True)
        for at, image in enumerate(images):
            (folder / f'images/{label:05}/{at}.jpg').write_bytes(image)
    return sum(map(len, pictures))


def encode(image: np.ndarray) -> bytes:
    return cv2.imencode('.jpg', image[..., ::-1], [cv2.IMWRITE_JPEG_QUALITY, 95])[1].tobytes()


def ours(folder: Path, name: str) -> FaceDataset:
    return FaceDataset(str(folder / 'train.rec'), pipeline=[dict(type='DecodeFace'), *PIPELINES[name], dict(type='PackFace')])


def openmmlab(folder: Path) -> torch.utils.data.Dataset:
    with DefaultScope.overwrite_default_scope('mmpretrain'):
        pipeline = [dict(type='LoadImageFromFile'), dict(type='mmcv.RandomFlip', prob=.5), dict(type='PackInputs')]
        return DATASETS.build(dict(type='mmpretrain.CustomDataset', data_root=str(folder / 'images'), pipeline=pipeline))


class PerImage(torch.utils.data.Dataset):
    """A chain of torchvision's transforms for each image, as in insightface's arcface_torch."""

    def __init__(self, folder: Path) -> None:
        self.records = open_records(folder / 'train.rec')
        self.transform = transforms.Compose([
            transforms.ToPILImage(),
            transforms.RandomHorizontalFlip(),
            transforms.ToTensor(),
            transforms.Normalize(mean=[.5, .5, .5], std=[.5, .5, .5])
        ])

    def __getitem__(self, at: int) -> tuple[torch.Tensor, torch.Tensor]:
        image = cv2.imdecode(np.frombuffer(self.records.read(at), np.uint8), cv2.IMREAD_COLOR)
        return self.transform(cv2.cvtColor(image, cv2.COLOR_BGR2RGB)), torch.tensor(int(self.records.labels[at]))


def contestants(folder: Path, batches: list[list[int]]) -> dict[str, Callable[[], object]]:
    """Each a function that goes through all batches once."""
    records = open_records(folder / 'train.rec')
    encoded = [np.frombuffer(records.read(at), np.uint8) for batch in batches for at in batch]
    preprocessor = MODELS.build(dict(type='FaceDataPreprocessor', mean=MEAN, std=STD))
    cls_preprocessor = MODELS.build(dict(type='mmpretrain.ClsDataPreprocessor', mean=MEAN, std=STD, to_rgb=True))
    default, chain = openmmlab(folder), PerImage(folder)

    def run(name: str) -> Callable[[], None]:
        dataset = ours(folder, name)

        def go() -> None:
            for batch in batches:
                data = face_collate(dataset.__getitems__([(0, at) for at in batch]))
                if name.startswith('normalised'):
                    preprocessor(data, True)

        return go

    return {
        'decoding alone': lambda: [cv2.imdecode(image, cv2.IMREAD_COLOR) for image in encoded],
        **{name: run(name) for name in PIPELINES},
        'OpenMMLab, normalised with flip': lambda: [
            cls_preprocessor(pseudo_collate([default[at] for at in batch]), True) for batch in batches],
        'per-image chain, normalised with flip': lambda: [torch.stack([chain[at][0] for at in batch]) for batch in batches],
    }


def one_process(folder: Path, batches: list[list[int]], rounds: int) -> dict[str, dict[str, float]]:
    work, count = contestants(folder, batches), sum(map(len, batches))
    times: dict[str, list[float]] = {name: [] for name in work}
    for _ in range(rounds + 1):  # the first warms up
        for name, go in work.items():
            begin = time.process_time()
            go()
            times[name].append((time.process_time() - begin) / count)
    base = times['decoding alone'][1:]
    return {
        name: dict(
            us=1e6 * statistics.median(own[1:]),
            per_second=1 / statistics.median(own[1:]),
            fraction=statistics.median(b / o for b, o in zip(base, own[1:], strict=True)))
        for name, own in times.items()
    }


def loaders(folder: Path, batch_size: int, images: int, rounds: int) -> dict[str, dict[int, float]]:
    dataset, default = ours(folder, 'uint8 batch'), openmmlab(folder)
    flipped = ours(folder, 'uint8 batch with flip')
    kinds = {
        'ours, uint8 batch': lambda **kw: DataLoader(dataset, batch_size, sampler=FaceSampler(dataset), collate_fn=face_collate, **kw),
        'ours, uint8 batch with flip': lambda **kw: DataLoader(
            flipped, batch_size, sampler=FaceSampler(flipped), collate_fn=face_collate, **kw),
        'OpenMMLab, pseudo_collate': lambda **kw: DataLoader(default, batch_size, shuffle=True, collate_fn=pseudo_collate, **kw),
    }
    speeds: dict[str, dict[int, list[float]]] = {name: {workers: [] for workers in (0, 1, 2)} for name in kinds}
    built = {(name, w): build(num_workers=w, drop_last=True, persistent_workers=w > 0) for name, build in kinds.items() for w in (0, 1, 2)}
    for _ in range(rounds + 1):
        for (name, workers), loader in built.items():
            begin, seen = time.perf_counter(), 0
            while seen < images:
                for batch in loader:
                    seen += len(batch['inputs'])
            speeds[name][workers].append(seen / (time.perf_counter() - begin))
    return {name: {workers: statistics.median(s[1:]) for workers, s in by_workers.items()} for name, by_workers in speeds.items()}


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--records', help='a training set to take the images from (default: procedural faces)')
    parser.add_argument('--images', type=int, default=2048, help='how many (default: %(default)s)')
    parser.add_argument('--batch-size', type=int, default=128)
    parser.add_argument('--rounds', type=int, default=9)
    parser.add_argument(
        '--loader-images', type=int, default=8192, help='of the second table, each round; 0 leaves it out (default: %(default)s)')
    parser.add_argument('--out', type=Path, help='folder for results.json')
    args = parser.parse_args(argv)
    torch.set_num_threads(1)
    cv2.setNumThreads(0)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        count = write_images(folder, args.records, args.images)
        order = np.random.default_rng(0).permutation(count).tolist()
        batches = [order[at:at + args.batch_size] for at in range(0, count - args.batch_size + 1, args.batch_size)]
        results: dict[str, dict] = dict(one_process=one_process(folder, batches, args.rounds))
        print('| one process | us an image | images/s | of decoding alone |\n|---|---|---|---|')
        for key, row in results['one_process'].items():
            print(f'| {key} | {row["us"]:.1f} | {row["per_second"]:,.0f} | {row["fraction"]:.2f} |')
        sys.stdout.flush()
        if args.loader_images:
            results['loaders'] = loaders(folder, args.batch_size, args.loader_images, args.rounds)
            print('\n| DataLoader, images/s | 0 workers | 1 | 2 |\n|---|---|---|---|')
            for key, speeds in results['loaders'].items():
                print(f'| {key} | ' + ' | '.join(f'{speed:,.0f}' for speed in speeds.values()) + ' |')
    if args.out is not None:
        args.out.mkdir(parents=True, exist_ok=True)
        (args.out / 'results.json').write_text(json.dumps(results, indent=1))
    return 0


if __name__ == '__main__':
    sys.exit(main())
