"""What a training would cost before it is started."""
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mmengine.config import Config
from mmengine.registry import DefaultScope

from mmface.apis.train import load_config
from mmface.runtime.optim.face_amp_optim_wrapper import DTYPES

from .advice import Advice, advise
from .backbone_cost import measure_backbone
from .head_cost import HeadMeter
from .layout import Layout, layouts
from .optimizer_cost import measure_optimizer
from .rank_cost import RankCost, rank_cost


@dataclass(frozen=True)
class Estimate:
    """What a training of so many classes on so many GPUs costs.

    Attributes:
        classes: C.
        gpus: W.
        gpu_memory: of one, in GiB.
        costs: of a rank, a layout each.
        advice: which to take.
    """
    classes: int
    gpus: int
    gpu_memory: float
    costs: tuple[RankCost, ...]
    advice: Advice

    def as_dict(self) -> dict[str, Any]:
        return dict(
            classes=self.classes, gpus=self.gpus, gpu_memory=self.gpu_memory, advice=self.advice.layout, why=list(self.advice.why),
            layouts={cost.layout.name: cost.as_dict() for cost in self.costs})


def estimate(config: str | Path | Config,
             gpus: int,
             gpu_memory: float,
             *,
             classes: list[int] | None = None,
             amp: bool = False,
             device: str = 'cuda',
             cfg_options: Mapping[str, Any] | None = None) -> list[Estimate]:
    """Memory of a rank, communication of a step and advice, without a GPU, without data and without a head of the real size.

    Args:
        config: a config file, or a config.
        gpus: ranks of the training, one a GPU.
        gpu_memory: of one GPU, in GiB.
        classes: numbers of identities to estimate for; by default the config's alone.
        amp: automatic mixed precision, where the config does not ask for it.
        device: ``'cuda'`` or ``'cpu'``: where the training is to run.
        cfg_options: changes to the config, as of :func:`~mmface.apis.train.train`.

    Returns:
        One for each number of classes.

    Raises:
        ValueError: where the config has no head, or a number is not positive.
    """
    cfg = load_config(config, None, cfg_options, 'none')
    if not (cfg.get('model') or {}).get('head'):
        raise ValueError(f'{cfg.filename}: the model has no head, and so nothing that grows with the classes')
    classes = classes or [cfg.model.head.num_classes]
    for name, value in dict(gpus=gpus, gpu_memory=gpu_memory, classes=min(classes)).items():
        if not value > 0:
            raise ValueError(f'{name} must be positive, got {value}')
    batch, wrapper = cfg.train_dataloader.batch_size, cfg.optim_wrapper
    mixed = amp or str(wrapper.get('type')).endswith('FaceAmpOptimWrapper')
    dtype = DTYPES[wrapper.get('dtype', 'bfloat16')] if mixed else None
    hooks = (*(cfg.get('custom_hooks') or ()), *(cfg.get('default_hooks') or {}).values())
    hook_types = {str(hook.get('type')).rpartition('.')[2] for hook in hooks if hook}
    with DefaultScope.overwrite_default_scope('mmface'):
        backbone, optimizer = measure_backbone(cfg.model, dtype), measure_optimizer(wrapper.optimizer)
        meters = {layout: HeadMeter(layout.head(cfg.model.head), gpus, backbone.dtype, device) for layout in layouts(gpus)}

        def cost(layout: Layout, count: int) -> RankCost:
            head = meters[layout].cost(count, batch)
            return rank_cost(layout, backbone, head, optimizer, gpus, batch, wrapper.get('accumulative_counts', 1), hook_types)

        results = []
        for count in classes:
            costs = [cost(layout, count) for layout in meters]
            results.append(Estimate(count, gpus, gpu_memory, tuple(costs), advise(costs, gpus, gpu_memory)))
    return results
