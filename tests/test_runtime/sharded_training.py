"""Whole trainings of the toy with a sharded head, in double precision, on any number of ranks.

``torchrun sharded_training.py RUNS`` does several in one group of processes; RUNS is a JSON list of arguments of :func:`run`.
"""
import json
import os
import signal
import sys
from pathlib import Path

import torch
from torchrun import torchrun
from toy_training import toy_config

from mmface.models import FaceRecognizer
from mmface.models.heads.class_shard import sharded_tensors
from mmface.registry import MODELS
from mmface.utils.dist import CPU_MODEL_WRAPPER, init_cpu_group, leave_group

HERE = Path(__file__).parent
BATCH = 12  # of all ranks together
COMMON = {
    'model.type': 'DoubleRecognizer',
    'model.head.sharded': True,
    'model.head.num_classes': 11,
    'train_dataloader.dataset.images': 96,  # 5 epochs of 8 steps
    'train_dataloader.dataset.classes': 11,
    'train_cfg.max_epochs': 5,
    'train_cfg.val_begin': 3,
    'train_cfg.val_interval': 2,
    'optim_wrapper.accumulative_counts': 3,  # the checkpoint at step 20 is between two updates
    'optim_wrapper.clip_grad.max_norm': .5,
    'param_scheduler': [dict(type='LinearLR', start_factor=.1, begin=0, end=30, by_epoch=False)],
    'default_hooks.checkpoint.by_epoch': False,
    'default_hooks.checkpoint.interval': 20,
    'custom_hooks': [dict(type='FaceEMAHook', momentum=.1), dict(type='Recorder')],
    # what depends on how the batch is divided
    'model.backbone.batch_norm': False,
    'model.neck.dropout': 0.,
}
COSFACE = dict(type='CosFaceLoss', s=16., _delete_=True)
KINDS = {
    'sgd': {},
    'adamw sampled': {
        'optim_wrapper.optimizer': dict(type='AdamW', lr=.01, weight_decay=.05, _delete_=True),
        'model.head.engine': dict(type='SampledEngine', ratio=.3),
        'model.head.num_classes': 40,
        'model.head.loss': COSFACE,
    },
    'vpl': {
        'model.head.type': 'VPLHead',
        'model.head.start_iter': 5,
        'model.head.loss': COSFACE,
    },
    'sub-centres adamw': {
        'optim_wrapper.optimizer': dict(type='AdamW', lr=.01, weight_decay=.05, _delete_=True),
        'model.head.num_centers': 2,
        'model.head.loss': dict(type='SoftmaxLoss', _delete_=True),  # with a bias
    },
}


@MODELS.register_module()
class DoubleRecognizer(FaceRecognizer):
    """In double precision, so that another order of summation is all but invisible."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.double()


def die_while_writing(nth):
    """This process kills itself when it has written half of its ``nth`` file of rows."""
    from mmface.runtime.shards import shard_writer
    write, left = shard_writer.write_safetensors, nth

    def half(file, tensors):
        nonlocal left
        left -= 1
        if left == 0:
            file.write(b'half')
            file.flush()
            os.kill(os.getpid(), signal.SIGKILL)
        return write(file, tensors)

    shard_writer.write_safetensors = half


def run(work_dir, changes, kind='sgd', dies=None, fails=False):
    """Trains in ``work_dir``; every rank leaves its part of the model in ``rank<r>.pth``, or the error that is expected of it.

    Args:
        dies: which rank kills itself in the middle of which of its checkpoints.
    """
    from mmengine.runner import Runner
    ranks, rank = int(os.environ.get('WORLD_SIZE', '1')), int(os.environ.get('RANK', '0'))
    if dies and dies[0] == rank:
        die_while_writing(dies[1])
    launcher = {} if ranks == 1 else dict(launcher='pytorch', model_wrapper_cfg=CPU_MODEL_WRAPPER)
    changes = {**COMMON, **KINDS[kind], 'train_dataloader.batch_size': BATCH // ranks, **launcher, **changes}
    Path(work_dir).mkdir(parents=True, exist_ok=True)
    try:
        runner = Runner.from_cfg(toy_config(work_dir, **changes))
        runner.train()
    except (ValueError, RuntimeError, OSError) as error:
        if not fails:
            raise
        (Path(work_dir) / f'rank{rank}.error').write_text(f'{type(error).__name__}: {error}')
        return None
    model = getattr(runner.model, 'module', runner.model)
    rows = {name: tensor.detach() for name, (tensor, _) in sharded_tensors(model).items()}
    torch.save(dict(state=model.state_dict(), rows=rows), Path(work_dir) / f'rank{rank}.pth')
    return runner


def on_ranks(ranks, runs, succeeds=True):
    """Does ``runs`` one after the other in one group of processes."""
    code, errors = torchrun('sharded_training.py', ranks, runs)
    assert (code == 0) == succeeds, errors[-5000:]


def weights(work_dir):
    """What the ranks left, their rows put together; and whether all ranks had the same of the rest."""
    ranks = [torch.load(path) for path in sorted(Path(work_dir).glob('rank?.pth'))]
    assert ranks
    for other in ranks[1:]:
        assert other['state'].keys() == ranks[0]['state'].keys()
        assert all(torch.equal(other['state'][name], value) for name, value in ranks[0]['state'].items())
    whole = {name: torch.cat([rank['rows'][name] for rank in ranks]) for name in ranks[0]['rows']}
    return {**ranks[0]['state'], **whole}


if __name__ == '__main__':
    torch.set_num_threads(1)
    from mmengine.config import Config
    Config.pretty_text = property(lambda config: f'work_dir = {config.work_dir!r}\n')
    init_cpu_group('pytorch', timeout=120)
    for arguments in json.loads(sys.argv[1]):
        run(**arguments)
    leave_group()
