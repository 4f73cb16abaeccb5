"""Other projects' checkpoints to mmface's, and back; executes nothing that a file contains.

    convert adaface_ir50_ms1mv2.ckpt --training-set MS1MV2 --licence-weights MIT
    convert backbone.pth --out r50.safetensors
    convert r50.safetensors --to insightface
    convert work_dirs/x/epoch_20.pth --config work_dirs/x/config.py --to insightface

Recognises the network by its keys and shapes, whatever wrapper they stand in, and writes NAME.safetensors and NAME.json, which get_model,
evaluate and export take. Where nothing fits, it prints the difference to the nearest layout: - missing, + unexpected, ! another shape.
"""
from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mmface.zoo import Manifest

FAMILIES = (
    'adaface', 'cvlface', 'face-evolve', 'facex-zoo', 'treb1en-mobilefacenet', 'facex-zoo-mobilefacenet', 'foamliu-mobilefacenet',
    'insightface', 'insightface-mobilefacenet', 'magface', 'tface', 'tface-mobilefacenet', 'vit')
"""The keys of mmface.zoo.layouts.LAYOUTS, which takes seconds to import."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command line."""
    parser.epilog = 'Exit codes: 0 written; 2 bad usage or input.'
    parser.add_argument('file', type=Path, help="another project's checkpoint; with --to, one of ours")
    parser.add_argument('--out', type=Path, help='the file to write (default: here, under the name of FILE); NAME.pth to train on from')
    parser.add_argument('--training-set', metavar='NAME', help='what it was trained on; checked against the classes of the head')
    for kind in ('code', 'weights', 'data'):
        parser.add_argument(f'--licence-{kind}', metavar='TERMS', help=f'licence of the {kind} (default: as known, else unknown)')
    reading = parser.add_argument_group('from another project')
    reading.add_argument('--family', choices=FAMILIES, help='its layout (default: told by the keys)')
    reading.add_argument('--prefix', help='of the network that is meant, where the file has several: "teacher."')
    reading.add_argument('--keep-head', action='store_true', help='keep the prototypes, which are templates of the people trained on')
    reading.add_argument('--color', choices=['RGB', 'BGR'], help="what the network eats (this and the next: default: its project's)")
    reading.add_argument('--mean', type=float, nargs=3, help='per channel, in 0..255, in the order of --color')
    reading.add_argument('--std', type=float, nargs=3, help='likewise')
    writing = parser.add_argument_group('to another project')
    writing.add_argument('--to', choices=FAMILIES, metavar='LAYOUT', help=f'one of {", ".join(FAMILIES)}')
    writing.add_argument('--config', type=Path, help='of a checkpoint that a training of ours wrote')


def run(args: argparse.Namespace) -> int:
    """Converts in the direction that is wanted."""
    if args.config is not None and args.to is None:
        args.refuse('--config is for a checkpoint of ours, which --to writes for others')
    licence = {kind: terms for kind in ('code', 'weights', 'data') if (terms := getattr(args, f'licence_{kind}')) is not None}
    if args.to:
        from_ours(args, licence)
    else:
        to_ours(args, licence)
    return 0


def to_ours(args: argparse.Namespace, licence: dict[str, str]) -> None:
    """Writes a pair of ours."""
    from mmface.zoo import convert
    preprocessor = {key: getattr(args, key) for key in ('color', 'mean', 'std') if getattr(args, key) is not None}
    found = convert(args.file, args.family, args.prefix, args.training_set, licence, args.keep_head, **preprocessor)
    summarise(found.manifest)
    for note in found.notes:
        print(f'note       {note}')
    print(f'written    {found.write(args.out or Path(args.file.stem).with_suffix(".safetensors"))} and its .json')


def from_ours(args: argparse.Namespace, licence: dict[str, str]) -> None:
    """Writes a file of another project's."""
    from mmface.zoo import Manifest, read_own, write_foreign
    from mmface.zoo.foreign_file import manifest_beside
    out = args.out or Path(f'{args.file.stem}_{args.to}.pt')
    written = write_foreign(read_own(args.file, args.config), args.to, out, licence, args.training_set)
    summarise(Manifest.read(manifest_beside(written)))
    print(f'written    {written} and {manifest_beside(written).name}')


def summarise(manifest: Manifest) -> None:
    """What the file holds, for people to read."""
    eats = manifest.input
    print(f'family     {manifest.family}')
    for part in ('backbone', 'neck'):
        print(f'{part:10} {", ".join(f"{key}={value}" for key, value in manifest.model[part].items())}')
    print(f'input      {eats["size"][0]} x {eats["size"][1]} {eats["color"]}, (x - {list(eats["mean"])}) / {list(eats["std"])}')
    print(f'trained on {manifest.training_set}' + (f', {manifest.num_classes} classes' if manifest.num_classes else ''))
    for kind, terms in manifest.licence.items():
        print(f'licence    {kind}: {terms}')
