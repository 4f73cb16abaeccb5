"""Weights either fit or the run stops; the head may start fresh."""
import re

import torch
from mmengine.hooks import Hook
from mmengine.model import is_model_wrapper
from mmengine.runner import Runner

from mmface.models.heads.class_shard import sharded_tensors
from mmface.registry import HOOKS


@HOOKS.register_module()
class StrictLoadHook(Hook):
    """Checks a checkpoint against the model, part by part (backbone, neck, head), before it is loaded.

    MMEngine logs what does not fit and trains on. Here, with ``load_from``,

    - the head starts fresh, and the log says so once, where the checkpoint has none or one of other shapes (another number of classes);
      where only some of its entries are missing or left over (another loss), the others are loaded;
    - any part but the backbone starts fresh, likewise said, where the checkpoint has nothing of it;
    - all else that does not fit is an error that names the entries.

    With ``resume`` everything must fit. ``num_batches_tracked``, which older files lack, may be missing.

    The prototypes of a sharded head count as what they are together. They lie beside the checkpoint, and are read from there after this.
    """

    priority = 'HIGH'  # before EMAHook, which copies what is loaded

    def after_load_checkpoint(self, runner: Runner, checkpoint: dict) -> None:
        model = runner.model.module if is_model_wrapper(runner.model) else runner.model
        state = checkpoint.get('state_dict', checkpoint)
        names = {re.sub(r'^module\.', '', name): name for name in state}
        beside = checkpoint.get('meta', {}).get('shards', {}).get('tensors', {})  # what is left in it is read
        stored = {name: state[key] for name, key in names.items()}
        stored |= {name: torch.empty(shape, device='meta') for name, shape in beside.items()}
        sharded = {name: tensor.new_empty((spec.size, *tensor.shape[1:]), device='meta')
                   for name, (tensor, spec) in sharded_tensors(model).items()}
        wanted = {**model.state_dict(), **sharded}
        for part in dict.fromkeys(map(_part, wanted)):
            ours = {name: value for name, value in wanted.items() if _part(name) == part}
            theirs = {name: value for name, value in stored.items() if _part(name) == part}
            reshaped, misfits = compare(ours, theirs)
            apart = [name for name in ours if name in beside and name not in sharded]
            if apart and not reshaped:
                folder = checkpoint['meta']['shards']['folder']
                raise ValueError(f'{", ".join(apart)} of the checkpoint lie in shards, in the folder {folder} beside it, and the head of '
                                 'the config is whole: give it sharded=True, or make one file of the two with '
                                 'tools/model_converters/head.py merge')
            if not misfits:
                continue
            if runner._resume or not (part == 'head' or (part != 'backbone' and not theirs)):
                advice = ('Resuming needs the model that the checkpoint was trained with; load_from starts from its weights'
                          if runner._resume else f'Only the head may differ: give the config the {part} of the checkpoint')
                more = f'; and {len(misfits) - 3} more' if len(misfits) > 3 else ''
                raise ValueError(f'the checkpoint does not fit the model: {"; ".join(misfits[:3])}{more}. {advice}')
            if reshaped:
                for name in theirs:
                    state.pop(names.get(name), None)
                    beside.pop(name, None)
            what = f'the {part}' if reshaped or not theirs else f'what is left of the {part}'
            runner.logger.warning(f'{what} starts fresh: {"; ".join(misfits)}')


def compare(ours: dict[str, torch.Tensor], theirs: dict[str, torch.Tensor]) -> tuple[bool, list[str]]:
    """Whether any of the tensors ``theirs`` has another shape than in ``ours``, and one message for each that cannot be loaded."""
    shapes = [
        f'{name} is {tuple(theirs[name].shape)} in the checkpoint and {tuple(value.shape)} in the model' for name, value in ours.items()
        if name in theirs and theirs[name].shape != value.shape
    ]
    missing = [f'{name} is not in the checkpoint' for name in ours if name not in theirs and not name.endswith('num_batches_tracked')]
    extra = [f'{name} is not in the model' for name in theirs if name not in ours]
    return bool(shapes), shapes + missing + extra


def _part(name: str) -> str:
    return name.partition('.')[0]
