"""Prototypes that start where the classes are."""
from itertools import repeat
from typing import Any

import torch
from mmengine.dist import all_gather_object, get_dist_info
from mmengine.hooks import Hook
from mmengine.model import BaseModel, is_model_wrapper
from mmengine.runner import Runner
from torch.nn.functional import normalize
from torch.utils.data import DataLoader

from mmface.functional.collectives import gathered
from mmface.registry import HOOKS


@HOOKS.register_module()
class CentroidInitHook(Hook):
    """Sets each prototype to the normalised mean of its class's normalised embeddings, once, before the first iteration.

    For fine-tuning: with ``load_from``, a head that starts fresh then begins where the loaded network puts the new classes. One pass over
    the training set, images as its pipeline makes them in epoch 0, batch normalisation in evaluation mode: the result depends on weights
    and data only. A class without images keeps its prototype, and the log counts those. A resumed run is left alone.

    Raises:
        ValueError: for a head with several centres a class, which equal centres would never tell apart.
    """

    priority = 'LOW'

    def before_train(self, runner: Runner) -> None:
        if runner.iter > 0:
            return
        model = runner.model.module if is_model_wrapper(runner.model) else runner.model
        weight = model.head.weight
        if model.head.num_centers != 1:
            raise ValueError(f'CentroidInitHook needs a head with one centre a class, this one has {model.head.num_centers}')
        sums = class_sums(model, runner.train_dataloader, model.head.classes)
        filled = sums.norm(dim=1) > 0
        with torch.no_grad():
            weight[filled.to(weight.device)] = normalize(sums[filled]).to(weight)
        empty = int((~filled).sum())
        if model.head.sharded:
            empty = sum(all_gather_object(empty))
        rest = f', {empty} classes without images keep their random ones' if empty else ''
        runner.logger.info(f'{model.head.num_classes - empty} prototypes start from the means of their classes{rest}')


@torch.no_grad()
def class_sums(model: BaseModel, dataloader: DataLoader, classes: tuple[int, int]) -> torch.Tensor:
    """Sums ``[stop - start, D]`` of normalised embeddings by class over the data set of ``dataloader``, on the CPU, float32.

    All ranks share the work, and each sums up its classes ``[start, stop)``. Images labelled -1 count nowhere.
    """
    rank, ranks = get_dist_info()
    dataset: Any = dataloader.dataset
    size = dataloader.batch_sampler.batch_size
    loader = DataLoader(
        dataset,
        batch_size=size,
        sampler=zip(repeat(0), range(rank, len(dataset), ranks)),
        num_workers=dataloader.num_workers,
        collate_fn=dataloader.collate_fn)
    start, stop = classes
    sums = torch.zeros(stop - start, model.head.in_channels)
    device = model.head.weight.device
    model.eval()
    batches = iter(loader)
    for _ in range(0, len(dataset), size * ranks):  # as many on every rank
        embeddings = torch.zeros(size, model.head.in_channels, device=device)
        labels = torch.full((size, ), -1, device=device)
        if (batch := next(batches, None)) is not None:
            data = model.data_preprocessor(batch, False)
            own = data['data_samples'].gt_label
            labels[:len(own)] = own
            embeddings[:len(own)] = normalize(model(**data, mode='tensor').float())
        embeddings, labels = gathered(embeddings).cpu(), gathered(labels).cpu()
        here = (labels >= start) & (labels < stop)
        sums.index_add_(0, labels[here] - start, embeddings[here])
    return sums
