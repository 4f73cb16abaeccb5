"""What a sharded checkpoint holds."""
import zlib
from collections.abc import Iterator
from pathlib import Path

from .open_shards import place_of_shards, read_checkpoint, shards_in, shards_of
from .safetensors_stream import PIECE
from .shard_index import ShardIndex


def describe(source: Path) -> Iterator[str]:
    """Lines about ``<name>.pth`` with its shards, or ``<name>.shards``; sizes and headers of its files have been checked.

    Raises:
        ValueError: where a file is missing, damaged or another checkpoint's; the message names it.
    """
    checkpoint = {} if source.is_dir() else read_checkpoint(source)
    if not source.is_dir() and 'shards' not in checkpoint.get('meta', {}):
        yield from _whole(source, checkpoint)
        return
    folder, index = shards_in(source) if source.is_dir() else shards_of(source, place_of_shards(source, checkpoint))
    yield f'shards      {folder}, written by {index.ranks} rank{"s" if index.ranks > 1 else ""}'
    if checkpoint:
        yield f'network     {source}, epoch {checkpoint["meta"].get("epoch")}, iteration {checkpoint["meta"].get("iter")}'
    for kind in ('model', 'optimizer', 'gradient'):
        for name, tensor in index.tensors.items():
            if name.startswith(f'{kind}/'):
                yield f'{kind:11} {name.partition("/")[2]}: {tensor.dtype} {tensor.shape}'
    yield f'bytes       {sum(file.bytes for file in index.files.values()):,} in {len(index.files)} files'


def damaged_files(source: Path) -> list[str]:
    """Reads every byte of the shards; returns the paths of the files whose CRC-32 is not the one that was written."""
    folder, index = shards_in(source) if source.is_dir() else shards_of(source, place_of_shards(source, read_checkpoint(source)))
    return [str(folder / name) for name in index.files if not _intact(folder, name, index)]


def _intact(folder: Path, name: str, index: ShardIndex) -> bool:
    check = 0
    with open(folder / name, 'rb') as file:
        while data := file.read(PIECE):
            check = zlib.crc32(data, check)
    return check == index.files[name].crc32


def _whole(source: Path, checkpoint: dict) -> Iterator[str]:
    state = checkpoint.get('state_dict', checkpoint)
    yield f'shards      none: {source} is whole'
    for name, value in state.items():
        if name.startswith('head.'):
            yield f'model       {name}: {str(value.dtype).removeprefix("torch.")} {list(value.shape)}'
