#!/usr/bin/env python
"""A picture of what a config's training images look like to the network.

    python tools/analysis/browse_dataset.py configs/adaface/adaface_iresnet50_2xb256_ms1mv2.py --out sheet.png

Each row is one image: first as it is stored, then as the pipeline makes it in so many epochs, exactly as training will. To the left stand
its label, its name where classes have names, and where it comes from. Exit codes: 0 drawn; 2 bad usage, or data that cannot be used.
"""
import argparse
import sys
from pathlib import Path

import numpy as np
from mmengine.config import Config
from mmengine.registry import init_default_scope
from PIL import Image, ImageDraw, ImageFont

import mmface  # noqa: F401  (mends MMEngine)
from mmface.datasets.decode import decode_image
from mmface.datasets.image_dataset import ImageDataset
from mmface.registry import DATASETS
from mmface.utils.command import run_command
from mmface.utils.dict_action import DictAction

GAP, MARGIN, INK, PAPER = 4, 190, (30, 30, 30), (250, 250, 250)


def parse_args(argv: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('config', help='its train_dataloader.dataset is shown')
    parser.add_argument('--out', type=Path, default=Path('sheet.png'), help='the picture, .png (default: %(default)s)')
    parser.add_argument('--images', type=int, default=8, help='rows, drawn at random (default: %(default)s)')
    parser.add_argument('--epochs', type=int, default=8, help='columns after the first (default: %(default)s)')
    parser.add_argument('--seed', type=int, default=0, help='of the choice of images (default: %(default)s)')
    parser.add_argument('--indices', type=int, nargs='+', help='these images in place of random ones')
    parser.add_argument('--cfg-options', nargs='+', action=DictAction, help='changes to the config, key=value')
    return parser.parse_args(argv)


def build_dataset(args: argparse.Namespace) -> ImageDataset:
    cfg = Config.fromfile(args.config)
    cfg.merge_from_dict(args.cfg_options or {})
    init_default_scope('mmface')
    dataset = DATASETS.build(cfg.train_dataloader.dataset)
    if not isinstance(dataset, ImageDataset):
        raise TypeError(f'{args.config} trains on a {type(dataset).__name__}; this tool shows the data sets of mmface')
    return dataset


def choose(args: argparse.Namespace, size: int) -> list[int]:
    if args.indices is None:
        return np.random.default_rng(args.seed).choice(size, min(args.images, size), replace=False).tolist()
    outside = [at for at in args.indices if not 0 <= at < size]
    if outside:
        raise ValueError(f'there is no image {outside[0]}: the set has {size}, counted from 0')
    return args.indices


def row(dataset: ImageDataset, at: int, epochs: int) -> tuple[str, list[np.ndarray]]:
    """What is written beside the images of a row, and the images, uint8 RGB."""
    record = dataset.load(at)
    names = {label: name for name, label in (dataset.metainfo.get('classes') or {}).items()}
    label = record['gt_label']
    lines = [f'image {at}', f'label {label}', *([names[label]] if label in names else []), record['where']]
    items = [dataset[epoch, at]['inputs'].permute(1, 2, 0).numpy() for epoch in range(epochs)]
    return '\n'.join(line if len(line) < 30 else '...' + line[-27:] for line in lines), [decode_image(record['img_bytes']), *items]


def draw(rows: list[tuple[str, list[np.ndarray]]]) -> Image.Image:
    """The sheet; what is larger than the largest image of a pipeline is shown at its height."""
    height = max(image.shape[0] for _, images in rows for image in images[1:])
    width = max(image.shape[1] for _, images in rows for image in images[1:])
    columns = len(rows[0][1])
    sheet = Image.new('RGB', (MARGIN + columns * (width + GAP), len(rows) * (height + GAP) + GAP), PAPER)
    pen, font = ImageDraw.Draw(sheet), ImageFont.load_default(12)
    for at, (text, images) in enumerate(rows):
        top = GAP + at * (height + GAP)
        pen.multiline_text((GAP, top), text, INK, font)
        for column, image in enumerate(images):
            picture = Image.fromarray(image)
            picture.thumbnail((width, height))
            sheet.paste(picture, (MARGIN + column * (width + GAP), top))
    return sheet


def main(argv: list[str] | None = None) -> int:
    args = parse_args(argv)

    def browse() -> None:
        dataset = build_dataset(args)
        sheet = draw([row(dataset, at, args.epochs) for at in choose(args, len(dataset))])
        args.out.parent.mkdir(parents=True, exist_ok=True)
        sheet.save(args.out)
        print(f'{args.out}: {args.epochs} epochs of images from {len(dataset)}')

    return run_command('browse_dataset.py', browse)


if __name__ == '__main__':
    sys.exit(main())
