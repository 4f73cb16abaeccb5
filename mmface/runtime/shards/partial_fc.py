"""Prototypes of insightface's Partial FC, which leaves a file for each of its ranks.

Layouts of https://github.com/deepinsight/insightface, ``recognition/arcface_torch`` (MIT): ``checkpoint_gpu_<rank>.pt`` with the key
``state_dict_softmax_fc``, and before 2022 ``rank_<rank>_softmax_weight.pt`` (or ``rank:<rank>_...``), a bare tensor. Of C classes the first
C mod W ranks hold one more than the others, in order. No file says what C or W is: that the last ranks are missing may go unnoticed.
"""
import re
from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor

from mmface.utils.atomic_file import atomic_file
from mmface.utils.data_format_error import DataFormatError

from .open_shards import read_checkpoint, read_plain
from .safetensors_stream import Stream, write_safetensors

NAME = re.compile(r'(?:checkpoint_gpu_(\d+)|rank[_:](\d+)_softmax_weight)\.pt')


def find_files(sources: Sequence[Path]) -> list[Path]:
    """The files of all ranks, in order, from a folder or from a list of them.

    Raises:
        ValueError: where there is none, where ranks are missing or twice, or for a name of neither layout.
    """
    by_rank: dict[int, Path] = {}
    for path in (path for source in sources for path in (_named_in(source) if source.is_dir() else [source])):
        match = NAME.fullmatch(path.name)
        if match is None:
            raise DataFormatError(path, hint='is named like neither checkpoint_gpu_0.pt nor rank_0_softmax_weight.pt')
        rank = int(match[1] or match[2] or 0)
        if rank in by_rank:
            raise DataFormatError(path, value=f'rank {rank}', hint=f'{by_rank[rank].name} is, too: name the files of one layout')
        by_rank[rank] = path
    missing = sorted(set(range(max(by_rank, default=0) + 1)) - by_rank.keys())
    if missing:
        found = [path.name for path in by_rank.values()]
        raise DataFormatError(sources[0], value=f'files {found}', hint=f'those of ranks {missing} are missing')
    return [by_rank[rank] for rank in sorted(by_rank)]


def _named_in(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if NAME.fullmatch(path.name))


def read_rows(path: Path) -> Tensor:
    """The prototypes ``[n, D]`` in the file of one rank, not yet in memory.

    Raises:
        ValueError: where it holds none, or something else than plain data.
    """
    found = read_plain(path)
    if isinstance(found, dict):
        head = found.get('state_dict_softmax_fc') or {}
        found = {key.removeprefix('module.'): value for key, value in head.items()}.get('weight')
    if not isinstance(found, Tensor) or found.ndim != 2 or not found.is_floating_point():
        raise DataFormatError(path, hint='has no prototypes: neither a tensor [classes, D] nor one at state_dict_softmax_fc.weight')
    return found.detach()


def import_partial_fc(sources: Sequence[Path], output: Path, network: Path | None = None) -> tuple[int, int]:
    """Puts the prototypes of all ranks together, as ``head.weight``.

    Args:
        sources: the folder of the ranks' files, or these.
        output: ``.safetensors``, which takes the memory of a piece, or ``.pth``.
        network: a checkpoint of mmface whose network belongs to them: ``output``, a ``.pth``, is then a copy of it with these prototypes.

    Returns:
        Number of classes and embedding size.

    Raises:
        ValueError: for a missing rank, a file that holds something else, sizes that are not those of one training, or another ending.
    """
    if output.suffix not in ('.pth', '.safetensors') or (network is not None and output.suffix != '.pth'):
        raise ValueError(f'{output} must end in .pth{"" if network else " or .safetensors"}')
    files = find_files(sources)
    parts = [read_rows(path) for path in files]
    classes, dim = sum(len(part) for part in parts), parts[0].shape[1]
    for rank, (path, part) in enumerate(zip(files, parts, strict=True)):
        expected = classes // len(parts) + (rank < classes % len(parts))
        if part.shape != (expected, dim) or part.dtype != parts[0].dtype:
            hint = (f'rank {rank} of {len(parts)} has [{expected}, {dim}] of {parts[0].dtype}: these are not all files of one training')
            raise DataFormatError(path, value=f'{list(part.shape)} of {part.dtype}', hint=hint)
    with atomic_file(output) as file:
        if output.suffix == '.safetensors':
            pieces = (piece for part in parts for piece in Stream.of(part).pieces)
            write_safetensors(file, {'head.weight': Stream(parts[0].dtype, (classes, dim), pieces)})
        else:
            checkpoint = read_checkpoint(network) if network else {'state_dict': {}}
            state = {name: value for name, value in checkpoint.get('state_dict', checkpoint).items() if not name.startswith('head.')}
            torch.save(dict(state_dict={**state, 'head.weight': torch.cat(parts)}), file)
    return classes, dim
