"""What is trained, and what determines the outcome."""
import hashlib
import json
from dataclasses import asdict, dataclass

import torch
from mmengine.config import Config
from mmengine.device import get_device

from mmface.utils.config_folder import config_folder
from mmface.version import __version__

from .arena_data import TRAIN, ArenaData
from .setting import Setting

_MODELS = dict(lfw='arcface/arcface_mobilefacenet_1xb64_lfw-holdout10.py', procedural='demo/arcface_mobilefacenet_procedural.py')
_SCHEDULE = '_base_/schedules/sgd_1xb64_12e.py'
_WARM_UP = 200  # iterations, or a tenth of a shorter training
_AUGMENTATION = [dict(type='RandomCropInPlace'), dict(type='RandomLowResolution'), dict(type='RandomPhotometric')]


@dataclass(frozen=True)
class Training:
    """One training of a comparison.

    Attributes:
        loss: config.
        seed: of weights, order, augmentation and drawn classes.
        lr: the learning rate after the warm-up.
        augmented: with AdaFace's three augmentations.
        ratio: share of the classes that a step draws, besides those of its batch; all of them without drawing where it is 1.
    """
    loss: dict
    seed: int
    lr: float = .1
    augmented: bool = False
    ratio: float = 1.

    def describe(self) -> dict:
        """Plain values."""
        return asdict(self)


def training_config(training: Training, data: ArenaData, setting: Setting) -> Config:
    """The config of a training: the network and the pipelines of the project's own config for the data, one schedule for all.

    Raises:
        ValueError: a training set smaller than a batch.
    """
    config, schedule = (Config.fromfile(config_folder() / name) for name in (_MODELS[data.name], _SCHEDULE))
    epochs, steps = setting.epochs[data.name], data.images // setting.batch
    if not steps:
        raise ValueError(f'{data.images} images do not fill a batch of {setting.batch}')
    pipeline = list(config.train_dataloader.dataset.pipeline)
    decoded = next(at for at, transform in enumerate(pipeline) if transform['type'] == 'DecodeFace') + 1
    pipeline[decoded:decoded] = _AUGMENTATION if training.augmented else []
    config.merge_from_dict({
        'train_dataloader.batch_size': setting.batch,
        'train_dataloader.num_workers': 0,
        'train_dataloader.dataset.path': str(data.folder / TRAIN),
        'train_dataloader.dataset.seed': training.seed,
        'model.head.num_classes': data.people,
        'randomness.seed': training.seed,
        'default_hooks.checkpoint.max_keep_ckpts': -1,
        'default_hooks.checkpoint.save_best': None,
        'default_hooks.logger.interval': 20,
        'visualizer.vis_backends': [dict(type='LocalVisBackend')],
        **setting.changes.get(data.name, {})
    })
    config.train_dataloader.dataset.pipeline = pipeline
    config.model.head.loss = dict(training.loss)
    if training.ratio < 1:
        config.model.head.engine = dict(type='SampledEngine', ratio=training.ratio, seed=training.seed)
    config.optim_wrapper, config.train_cfg = schedule.optim_wrapper, dict(type='FaceEpochTrainLoop', max_epochs=epochs)
    config.optim_wrapper.optimizer.lr = training.lr
    warm_up, cosine = schedule.param_scheduler
    config.param_scheduler = [warm_up | dict(end=min(_WARM_UP, max(1, epochs * steps // 10))), cosine | dict(end=epochs)]
    config.custom_hooks = [dict(type='TrainingWatchHook')]
    return config


def identity(training: Training, data: ArenaData, setting: Setting) -> str:
    """SHA-256 over everything that determines the outcome: config, content of the data, versions; not where files lie.

    What it does not see is a change of the package's code within one version.
    """
    config = training_config(training, data, setting).to_dict()
    config['train_dataloader']['dataset']['path'] = data.sha256
    for key in ('val_dataloader', 'test_dataloader'):
        config[key] = [dict(transform) for transform in config[key]['dataset']['pipeline']]
    facts = dict(config=config, torch=torch.__version__, mmface=__version__, threads=1, device=get_device())
    return hashlib.sha256(json.dumps(facts, sort_keys=True, default=str).encode()).hexdigest()
