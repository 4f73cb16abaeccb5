"""A rank that trains a large head and says how much memory that took, and how much it said to the others."""
import ctypes
import gc
import sys
from pathlib import Path
from unittest import mock

import torch
import torch.distributed as dist
from torch import nn

import mmface.models
import mmface.runtime.optim  # noqa: F401
from mmface.registry import MODELS, OPTIM_WRAPPERS, OPTIMIZERS
from mmface.structures import FaceDataSample

DIM, BATCH = 512, 16
FUSED, SAMPLED = dict(type='FusedEngine'), dict(type='SampledEngine', ratio=.1)
SGD = dict(type='SGD', lr=.1, momentum=.9, weight_decay=5e-4, fused=True)
#: Engine, optimiser, batches for one update, classes.
HEADS = dict(
    sgd=(FUSED, SGD, 1, 200_000),
    adamw=(FUSED, dict(type='AdamW', lr=1e-3, foreach=False), 1, 80_000),
    accumulated=(FUSED, SGD, 2, 80_000),
    sampled=(SAMPLED, SGD, 1, 200_000))
#: What is trained in how many processes: layout and head.
MEMORY = {
    1: [('whole', 'sgd'), ('whole', 'adamw'), ('whole', 'accumulated'), ('sampled', 'sampled')],
    2: [('sharded', 'sgd'), ('sampled', 'sampled'), ('whole', 'accumulated')]
}
#: Head and loss.
TRAFFIC = dict(
    arcface=dict(type='FaceClsHead', loss=dict(type='ArcFaceLoss')),
    adaface=dict(type='FaceClsHead', loss=dict(type='AdaFaceLoss'), engine=FUSED),
    curricularface=dict(type='FaceClsHead', loss=dict(type='CurricularFaceLoss'), engine=FUSED),
    softmax=dict(type='FaceClsHead', loss=dict(type='SoftmaxLoss'), engine=SAMPLED),
    normface=dict(type='FaceClsHead', loss=dict(type='NormFaceLoss', learn_scale=True), engine=FUSED),
    p2sgrad=dict(type='FaceClsHead', loss=dict(type='P2SGradLoss'), engine=FUSED, num_centers=2),
    vpl=dict(type='VPLHead', loss=dict(type='ArcFaceLoss'), engine=FUSED),
    broadface=dict(type='BroadFaceHead', loss=dict(type='ArcFaceLoss'), engine=FUSED, queue_size=200))
NARROW, ROWS, CLASSES = 16, 8, (1_000, 100_000)


def config(engine, optimizer, accumulated, classes):
    return dict(
        model=dict(
            type='FaceRecognizer',
            data_preprocessor=dict(type='FaceDataPreprocessor', size=(32, 32)),
            backbone=dict(type='MobileFaceNet', width=.5, out_channels=64),
            neck=dict(type='FaceNeck', in_channels=64, feat_size=2, out_channels=DIM),
            head=dict(type='FaceClsHead', num_classes=classes, in_channels=DIM, loss=dict(type='ArcFaceLoss'), engine=engine)),
        train_dataloader=dict(batch_size=BATCH),
        optim_wrapper=dict(type='FaceOptimWrapper', optimizer=optimizer, accumulative_counts=accumulated))


def status(name):
    lines = Path('/proc/self/status').read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(name))


def train(cfg, sharded):
    """A few updates of a model, and it, and what steps it."""
    model = MODELS.build({**cfg['model'], 'head': dict(cfg['model']['head'], sharded=sharded)})
    if sharded:
        model.head.shards_are_saved = True
    whole = nn.parallel.DistributedDataParallel(model) if dist.get_world_size() > 1 else model
    wrapper = dict(cfg['optim_wrapper'])
    optimizer = OPTIMIZERS.build({**wrapper.pop('optimizer'), 'params': list(model.parameters())})
    wrapper = OPTIM_WRAPPERS.build({**wrapper, 'optimizer': optimizer})
    wrapper.initialize_count_status(model, 0, 100)
    for _ in range(2 * wrapper._accumulative_counts):
        labels = torch.randint(model.head.num_classes, (BATCH, ))
        losses = whole(torch.rand(BATCH, 3, 32, 32), FaceDataSample(gt_label=labels), mode='loss')
        wrapper.update_params(sum(value for key, value in losses.items() if 'loss' in key))
    return model, wrapper


def peak_of_training(cfg, sharded):
    """Bytes that the process came to hold beyond what it held before."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)  # what is kept of earlier trainings would be used without being seen
    Path('/proc/self/clear_refs').write_text('5')  # forget the peak so far
    before = status('VmRSS')
    train(cfg, sharded)
    return status('VmHWM') - before


def counted(head):
    """(operation, bytes) of every collective in a step of ``head``; of a gather or scatter the larger tensor counts."""
    calls = []
    names = [name for name in dir(dist) if name.startswith(('all_', 'reduce', 'broadcast', 'gather', 'scatter', 'send', 'isend'))]

    def wrapped(name):
        original = getattr(dist, name)

        def call(*args, **kwargs):
            tensors = [t for a in args for t in (a if isinstance(a, list) else [a]) if isinstance(t, torch.Tensor)]
            calls.append((name, max(t.nbytes for t in tensors)))
            return original(*args, **kwargs)

        return call

    embeddings = torch.randn(ROWS, NARROW, requires_grad=True)
    labels = torch.randint(head.num_classes, (ROWS, ))
    head.compute_loss(embeddings, labels)['loss'].backward()
    if hasattr(head, 'queue_labels'):
        while (head.queue_labels < 0).any():
            head.compute_loss(embeddings, labels)['loss'].backward()
    with mock.patch.multiple(dist, **{name: wrapped(name) for name in names if callable(getattr(dist, name))}):
        head.compute_loss(embeddings, labels)['loss'].backward()
    return calls


def main(rank, world, folder, *what):
    torch.set_num_threads(1)
    dist.init_process_group('gloo', init_method=f'file://{folder}/meeting{world}', rank=int(rank), world_size=int(world))
    torch.manual_seed(int(rank))
    result = {}
    if 'memory' in what:
        train(config(FUSED, SGD, 1, 100), sharded=True)  # what libraries keep for themselves
        for layout, head in MEMORY[int(world)]:
            result[layout, head] = peak_of_training(config(*HEADS[head]), sharded=layout != 'whole')
            dist.barrier()
    if 'traffic' in what:
        for name, head in TRAFFIC.items():
            for classes in CLASSES:
                built = MODELS.build(dict(head, num_classes=classes, in_channels=NARROW, sharded=True))
                if hasattr(built, 'start_iter'):
                    built.start_iter = 0
                result[name, classes] = counted(built.train())
    torch.save(result, f'{folder}/cost{world}.{rank}.pt')
    dist.barrier()
    dist.destroy_process_group()


if __name__ == '__main__':
    main(*sys.argv[1:])
