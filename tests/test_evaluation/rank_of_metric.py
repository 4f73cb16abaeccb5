"""One rank of the test of VerificationMetric: ``rank_of_metric.py RANK WORLD_SIZE RENDEZVOUS_FILE OUTPUT_JSON``."""
import json
import sys

import numpy as np
import torch

from mmface.evaluation import VerificationMetric
from mmface.structures import PairSet

IMAGES = 23


def pair_set():
    pairs = np.random.default_rng(0).integers(0, IMAGES, (40, 2))
    pairs[:IMAGES, 0] = np.arange(IMAGES)
    return PairSet('toy', [f'{i}.jpg' for i in range(IMAGES)], pairs, np.arange(40) % 2 == 0, np.arange(40) // 10)


def embeddings():
    return torch.from_numpy(np.random.default_rng(1).normal(size=(IMAGES, 2, 8)).astype(np.float32))


def run(indices, batch_size=4, rows=None, **settings):
    """The metric over the given images in the given order."""
    metric = VerificationMetric(**settings)
    metric.dataset_meta = dict(pair_set=pair_set())
    rows = embeddings() if rows is None else rows
    for start in range(0, len(indices), batch_size):
        metric.process(None, [
            dict(sample_idx=torch.tensor([i]), embedding=rows[i, 0], mirrored_embedding=rows[i, 1])
            for i in indices[start:start + batch_size]
        ])
    return metric.evaluate(len(indices))


def error(*args, **settings):
    try:
        return run(*args, **settings)
    except ValueError as problem:
        return str(problem)


if __name__ == '__main__':
    rank, world_size, rendezvous, output = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4]
    torch.distributed.init_process_group('gloo', init_method=f'file://{rendezvous}', rank=rank, world_size=world_size)
    padded = [*range(IMAGES), 0][rank::world_size]  # the sampler repeats the first image to fill up
    shifted = embeddings() + rank * torch.nn.functional.one_hot(torch.tensor(0), IMAGES)[:, None, None]
    results = dict(
        interleaved=run(padded), other_order=run(padded[::-1], batch_size=5), all_on_last=run(list(range(IMAGES)) if rank else []),
        flip=run(padded, flip='add'), missing=error([i for i in padded if i not in (4, 7)]), different=error(padded, rows=shifted))
    with open(output, 'w') as file:
        json.dump(results, file)
    torch.distributed.barrier()
    torch.distributed.destroy_process_group()
