"""Training, as ``tools/train.py`` does it."""
import inspect
import os
import warnings
from collections.abc import Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any

import torch
from mmengine.config import Config
from mmengine.runner import Runner, find_latest_checkpoint

from mmface.utils.dist import CPU_MODEL_WRAPPER, check_model_wrapper, init_cpu_group
from mmface.utils.end_together import end_together


def train(config: str | Path | Config,
          *,
          work_dir: str | Path | None = None,
          resume: str | Path | None = None,
          amp: bool = False,
          validate: bool = True,
          auto_scale_lr: bool = False,
          cfg_options: Mapping[str, Any] | None = None,
          launcher: str = 'none') -> Runner:
    """Trains what ``config`` describes.

    Args:
        config: a config file, or a config.
        work_dir: where checkpoints and logs go; by default the config's, else ``work_dirs/<name of the config>``.
        resume: a checkpoint to go on from, or ``'auto'``: the last one of ``work_dir``; where there is none, as without ``resume``.
        amp: automatic mixed precision; ``optim_wrapper.dtype`` chooses between bfloat16 (default) and float16.
        validate: False leaves out the validation.
        auto_scale_lr: scales the learning rate by the ratio of the batch size over all ranks to ``auto_scale_lr.base_batch_size``.
        cfg_options: changes to the config, with dots in the keys of nested ones.
        launcher: what started the processes of a distributed training: ``'pytorch'``, ``'slurm'``, ``'mpi'``, or ``'none'``.

    Returns:
        The runner after training; ``runner.model`` is the model.

    Raises:
        ValueError: for ``auto_scale_lr`` with a config that names no base batch size, or a way to spread the model that is not offered.
        RankFailedError: where another rank of a distributed training has failed, and why.
    """
    cfg = load_config(config, work_dir, cfg_options, launcher)
    if not validate:
        cfg.val_cfg = cfg.val_dataloader = cfg.val_evaluator = None
    if amp:
        cfg.optim_wrapper.type = 'FaceAmpOptimWrapper'
    if resume == 'auto':
        resume = find_latest_checkpoint(cfg.work_dir)
    if resume is not None:
        cfg.resume, cfg.load_from = True, str(resume)
    elif not cfg.get('resume') and find_latest_checkpoint(cfg.work_dir):
        warnings.warn(f'{cfg.work_dir} has checkpoints of another training, which this one overwrites: --resume goes on with it, '
                      '--work-dir names another place', UserWarning, stacklevel=2)
    if auto_scale_lr:
        if 'base_batch_size' not in (cfg.get('auto_scale_lr') or {}):
            raise ValueError('scaling the learning rate needs auto_scale_lr=dict(base_batch_size=...) in the config: '
                             'the batch size, over all ranks, that its learning rate is meant for')
        cfg.auto_scale_lr.enable = True
    check_num_classes(cfg)
    check_strategy(cfg)
    prepare_devices(cfg)
    with end_together():
        runner = Runner.from_cfg(cfg)
        runner.train()
    return runner


def check_num_classes(cfg: Config) -> None:
    """Tells the training set, in place, how many classes the head has: it then names the first record whose label is beyond them."""
    dataset, head = cfg.train_dataloader.dataset, cfg.model.get('head') or {}
    if str(dataset.get('type')).removeprefix('mmface.') in ('FaceDataset', 'ConcatDataset') and 'num_classes' in head:
        dataset.setdefault('num_classes', head.num_classes)


def check_strategy(cfg: Config) -> None:
    """Refuses a config that asks for more than DistributedDataParallel around the backbone."""
    if cfg.get('strategy') or cfg.get('runner_type', 'Runner') != 'Runner':
        raise ValueError("strategy and runner_type are for MMEngine's FlexibleRunner, whose strategies wrap, save and load a model in "
                         "their own way; training here is the Runner's. Many classes need none of them: model.head.sharded=True")
    check_model_wrapper(str((cfg.get('model_wrapper_cfg') or {}).get('type', '')))


def load_config(config: str | Path | Config, work_dir: str | Path | None, cfg_options: Mapping[str, Any] | None, launcher: str) -> Config:
    """The config with its options, work directory and launcher filled in; a config that is passed in stays as it is.

    Raises:
        ValueError: for an option that begins with a name that nobody knows, a misspelt one for example.
    """
    cfg = deepcopy(config) if isinstance(config, Config) else Config.fromfile(config)
    for key in cfg_options or {}:
        top = key.partition('.')[0]
        if top not in cfg and top not in inspect.signature(Runner.__init__).parameters:
            raise ValueError(f'cfg_options: {key!r} would add {top!r}, which neither the config nor the Runner knows; '
                             f'the config has {", ".join(sorted(cfg))}')
    cfg.merge_from_dict(dict(cfg_options or {}))
    name = Path(cfg.filename).stem if cfg.filename else 'unnamed'
    cfg.work_dir = str(work_dir or cfg.get('work_dir') or Path('work_dirs') / name)
    cfg.launcher = launcher
    return cfg


def prepare_devices(cfg: Config) -> None:
    """Fits ``cfg``, in place, and the process to the machine.

    Without a GPU the ranks talk through gloo, memory is not pinned, and numbers too small for float32's normal range count as 0: the CPU
    computes with them a hundred times slower, and training comes to make many of them. A loader without workers keeps none.
    """
    if cfg.launcher == 'pytorch' and 'RANK' not in os.environ:
        raise ValueError("launcher 'pytorch' needs the environment that torchrun sets: start with tools/dist_train.sh, or without launcher")
    gpu = torch.cuda.is_available()
    if not gpu:
        torch.set_flush_denormal(True)
        if cfg.launcher != 'none':
            init_cpu_group(cfg.launcher, cfg.get('env_cfg', {}).get('dist_cfg', {}).get('timeout', 1800))
            cfg.setdefault('model_wrapper_cfg', CPU_MODEL_WRAPPER)
    for name in ('train_dataloader', 'val_dataloader', 'test_dataloader'):
        loader = cfg.get(name)
        if loader:
            loader.pin_memory = gpu and loader.get('pin_memory', True)
            loader.persistent_workers = loader.get('num_workers', 0) > 0 and loader.get('persistent_workers', True)
