"""Mends of ``mmengine.runner.checkpoint``; loaded with that module, since both need torch."""
import os.path as osp

import torch
from mmengine.runner import checkpoint

from .compat import replace_everywhere

stock_find_latest_checkpoint = checkpoint.find_latest_checkpoint


def mend_latest_checkpoint() -> None:
    """Lets ``last_checkpoint`` name a file beside itself, so that a work folder can be moved and still resumes."""
    if checkpoint.find_latest_checkpoint.__module__ != __name__:
        replace_everywhere(checkpoint.find_latest_checkpoint, find_latest_checkpoint)


def find_latest_checkpoint(path: str) -> str | None:
    """The checkpoint that ``path/last_checkpoint`` names, joined with ``path`` where it is relative; None where there is no such file."""
    name = stock_find_latest_checkpoint(path)
    return None if name is None else osp.join(path, name)  # an absolute name stays as it is


def mend_local_loading() -> None:
    """MMEngine 0.11 unpickles local checkpoints without restriction. This is 0.10's loader: torch's default, tensors and plain values.

    ``TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD=1`` in the environment is torch's way to load an older file whose origin is trusted.
    """

    @checkpoint.CheckpointLoader.register_scheme(prefixes='', force=True)
    def load_from_local(filename: str, map_location: str | None = None) -> dict:
        filename = osp.expanduser(filename)
        if not osp.isfile(filename):
            raise FileNotFoundError(f'{filename} can not be found.')
        try:
            return torch.load(filename, map_location=map_location)
        except Exception as error:  # a damaged file raises anything
            raise ValueError(f'{filename} cannot be loaded as tensors and plain values: it is damaged, or holds Python objects, which '
                             f'could run any code ({type(error).__name__})') from error
