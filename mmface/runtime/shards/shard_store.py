"""Checkpoints of the sharded part of a training."""
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from mmengine.dist import broadcast_object_list, is_main_process
from mmengine.optim import OptimWrapper
from torch import nn

from mmface.models.heads.class_shard import sharded_tensors

from .load_optimizer import load_optimizer
from .open_shards import shards_of
from .shard_folder import SHARDS, keep_only, load_shards, remove_folder, remove_torn, save_shards
from .shard_index import ShardIndex
from .together import together
from .training_rows import model_rows, optimizer_rows, places, sliced, without_rows


class ShardStore:
    """Keeps the sharded tensors of ``model`` in step with the ``.pth`` files of its run; without such tensors, does nothing.

    ``<name>.pth`` holds what every rank has, and of the shards their place, id and shapes, under ``meta['shards']``: it is the same
    whatever the number of ranks. ``<name>.shards/<id>/`` holds the rows: weights, optimiser state, gradients of an unfinished accumulation.
    """

    def __init__(self, model: nn.Module) -> None:
        self.model = model
        self.names = list(sharded_tensors(model))
        self.changed = True  # since the last save
        self._saved = Path(), ''
        self._named: dict[str, Any] | None = None
        for module in model.modules():
            if getattr(module, 'shard_spec', None):
                module.shards_are_saved = True  # type: ignore[assignment]

    def prepare(self, directory: Path) -> None:
        """Clears ``directory`` of what killed runs left, and makes sure that all ranks see it.

        Raises:
            RuntimeError, ValueError: on all ranks, where one does not.
        """
        if not self.names:
            return
        names = [f'.{uuid.uuid4().hex}']
        broadcast_object_list(names)
        probe = directory / names[0]

        def clear() -> None:
            if is_main_process():
                directory.mkdir(parents=True, exist_ok=True)
                remove_torn(directory)
                probe.touch()

        def look() -> None:
            if not probe.exists():
                raise ValueError(f'{directory} is not the same folder on all machines: shards need a work_dir that all ranks share')

        together(clear)
        try:
            together(look)
        finally:
            if is_main_process():
                probe.unlink()

    @contextmanager
    def beside(self, checkpoint: Path, optim_wrapper: OptimWrapper | None) -> Iterator[None]:
        """All ranks' shards are on the disk, whole, before the body writes ``checkpoint``; earlier ones of its name go after it.

        With ``optim_wrapper``, its state is among them.
        """
        if not self.names:
            yield
            return
        folder = checkpoint.with_suffix(SHARDS)
        if self.changed or self._saved[0] != folder:
            rows = model_rows(self.model)
            if optim_wrapper is not None:
                rows |= optimizer_rows(self.model, optim_wrapper.optimizer)
            self._saved = folder, save_shards(folder, rows)
            self.changed = False
        shapes = {name.removeprefix('model/'): list(rows.shape) for name, rows in model_rows(self.model).items()}
        learned = {}
        if optim_wrapper is not None:
            learned = {name: i for i, (name, _, _) in places(self.model, optim_wrapper.optimizer).items()}
        self._named = dict(folder=folder.name, id=self._saved[1], tensors=shapes, optimizer=learned)
        try:
            yield
        finally:
            self._named = None
        if is_main_process():
            keep_only(*self._saved)

    def complete(self, checkpoint: dict[str, Any], optim_wrapper: OptimWrapper) -> None:
        """Takes rank 0's shards out of what is about to be written, and says where all of them are; a best checkpoint goes without."""
        if not self.names:
            return
        if 'optimizer' in checkpoint:
            checkpoint['optimizer'] = without_rows(checkpoint['optimizer'], self.model, optim_wrapper.optimizer)
        if self._named is not None:
            checkpoint['meta']['shards'] = self._named

    def load(self, checkpoint: dict[str, Any], file: str | None, optim_wrapper: OptimWrapper | None) -> None:
        """Reads this rank's weights into the model and, for ``optim_wrapper``, its state into ``checkpoint``; all ranks call it.

        Args:
            checkpoint: as loaded from ``file``; what is not under its ``meta['shards']['tensors']`` stays as it is in the model.
            file: beside which the shards lie.
            optim_wrapper: None to load weights only.

        Raises:
            ValueError: on all ranks, where a file is missing or damaged, or its shape is not the model's: names it.
        """
        if not self.names:
            return
        place = checkpoint.get('meta', {}).get('shards')
        if place is None:
            if optim_wrapper is not None and 'optimizer' in checkpoint:
                checkpoint['optimizer'] = sliced(checkpoint['optimizer'], self.model, optim_wrapper.optimizer)
            return
        wanted = {name: rows for name, rows in model_rows(self.model).items() if name.removeprefix('model/') in place['tensors']}
        if not wanted:
            return
        folder, index = together(lambda: _open(file, place))
        load_shards(folder, index, wanted)
        if optim_wrapper is not None and 'optimizer' in checkpoint:
            load_optimizer(folder, index, checkpoint['optimizer'], self.model, optim_wrapper.optimizer)

    def remove(self, checkpoint: Path) -> None:
        """Removes the shards of ``checkpoint``."""
        if self.names:
            remove_folder(checkpoint.with_suffix(SHARDS))


def _open(file: str | None, place: dict[str, Any]) -> tuple[Path, ShardIndex]:
    path = Path(str(file))
    if file is None or not path.is_file():
        raise ValueError(f'the prototypes of {file} lie in the folder {place["folder"]} beside it, and it is not a local file')
    return shards_of(path, place)
