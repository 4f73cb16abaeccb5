"""Optimiser wrappers on a layer and a head whose classes several ranks share."""
import copy
from functools import partial

import torch
from sharded_cases import BATCH, Net, rows
from torch import nn
from torch.optim import SGD, AdamW

from mmface.runtime.optim import FaceAmpOptimWrapper, FaceOptimWrapper

CLASSES = 11
#: Optimiser, arguments of the wrapper, and engine. In the second step, with one class in the batch, no class of most ranks is drawn.
SAMPLED = dict(type='SampledEngine', ratio=.05)
OPTIMIZERS = dict(
    sgd=(partial(SGD, lr=.2, momentum=.9, weight_decay=.01), dict(clip_grad=dict(max_norm=.3)), dict(type='FusedEngine')),
    largest=(partial(SGD, lr=.2), dict(clip_grad=dict(max_norm=.02, norm_type='inf'), accumulative_counts=2), dict(type='FusedEngine')),
    one_norm=(partial(SGD, lr=.2), dict(clip_grad=dict(max_norm=.5, norm_type=1)), dict(type='DenseEngine')),
    sampled=(partial(SGD, lr=.2, momentum=.9), dict(clip_grad=dict(max_norm=.3), accumulative_counts=2), SAMPLED),
    sampled_adam=(partial(AdamW, lr=.02), dict(clip_grad=dict(max_norm=.3)), SAMPLED))


def net(engine, sharded):
    return Net(dict(loss=dict(type='NormFaceLoss', s=4., learn_scale=True), engine=engine), CLASSES, sharded)


def train(case, rank=0, world=1, sharded=False):
    """The replicated parameters after some steps, and the norms that were clipped."""
    optimizer, of_wrapper, engine = OPTIMIZERS[case]
    model = net(engine, sharded)
    wrapper = FaceOptimWrapper(optimizer=optimizer(model.parameters()), **copy.deepcopy(of_wrapper))
    wrapper.initialize_count_status(model, 0, 4)
    in_ddp, norms = nn.parallel.DistributedDataParallel(model) if world > 1 else model, []
    share = slice(rank, BATCH, world)
    for step in range(4):
        x, y, _ = rows(step, CLASSES, torch.float64)
        with wrapper.optim_context(in_ddp):
            loss = in_ddp(x[share], y[share])
        wrapper.update_params(loss)
        norms.append(wrapper.message_hub.get_scalar('train/grad_norm').current())
    return dict({name: p.detach() for name, p in model.named_parameters() if name != 'head.weight'}, norms=torch.tensor(norms))


def overflow(rank, world):
    """Scale, and whether weights have moved, after a step in which the last rank's prototypes alone overflow, and after one without."""
    model = net(dict(type='FusedEngine'), sharded=True).float()
    wrapper = FaceAmpOptimWrapper(dtype='float16', loss_scale=1024., optimizer=SGD(model.parameters(), lr=.1),
                                  clip_grad=dict(max_norm=1.))
    results = []
    for step in range(2):
        before = [p.detach().clone() for p in model.parameters()]
        x, y, _ = rows(step, CLASSES, torch.float32)
        with wrapper.optim_context(model):
            loss = model(x, y)
        wrapper.backward(wrapper.scale_loss(loss))
        if step == 0 and rank == world - 1:
            model.head.weight.grad[0, 0] = torch.inf
        wrapper.step()
        wrapper.zero_grad()
        moved = any(not torch.equal(p, q) for p, q in zip(before, model.parameters(), strict=True))
        results.append((wrapper.loss_scaler.get_scale(), moved))
    return results


def mixed(rank=0, world=1, sharded=False):
    """The layer after steps in bfloat16, in which the embeddings travel."""
    model = net(dict(type='FusedEngine'), sharded).float()
    wrapper = FaceAmpOptimWrapper(optimizer=SGD(model.parameters(), lr=.05))
    in_ddp = nn.parallel.DistributedDataParallel(model) if world > 1 else model
    share = slice(rank, BATCH, world)
    for step in range(3):
        x, y, _ = rows(step, CLASSES, torch.float32)
        with wrapper.optim_context(in_ddp):
            loss = in_ddp(x[share], y[share])
        wrapper.update_params(loss)
    return model.layer.weight.detach()
