"""One rank of the test of TemplateMetric and SearchMetric: ``rank_of_protocol_metrics.py RANK WORLD_SIZE RENDEZVOUS_FILE OUTPUT_JSON``."""
import json
import sys

import numpy as np
import torch

from mmface.evaluation import SearchMetric, TemplateMetric
from mmface.structures import SearchSet, TemplateList, TemplateSet

IMAGES = 31


def template_set():
    random = np.random.default_rng(0)
    template = np.append(np.arange(12), random.integers(0, 12, IMAGES - 12)) * 10
    pairs = random.choice(np.arange(12) * 10, (60, 2))
    lists = [TemplateList(np.arange(a, b) * 10, np.array(subjects)) for a, b, subjects in ((0, 3, [1, 2, 3]), (3, 5, [4, 5]),
                                                                                          (5, 12, [1, 2, 3, 4, 5, 1, 4]))]
    return TemplateSet(
        'toy', [f'{i}.jpg' for i in range(IMAGES)], template, random.integers(0, 3, IMAGES), random.uniform(.5, 1, IMAGES), pairs=pairs,
        same=pairs[:, 0] % 3 == pairs[:, 1] % 3, galleries=dict(a=lists[0], b=lists[1]), probes=dict(mixed=lists[2]))


def search_set():
    rows = np.arange(IMAGES)
    ids = np.append(np.tile(np.arange(8), 2), np.full(IMAGES - 16, -1))
    return SearchSet('small', [f'{i}.jpg' for i in rows], rows[:8], rows[8:16], rows[16:], ids)


def embeddings():
    return torch.from_numpy(np.random.default_rng(1).normal(size=(IMAGES, 2, 8)).astype(np.float32))


METRICS = dict(
    verification=lambda: TemplateMetric('TemplateVerification', preset='adaface', fars=(0.1, 0.3)),
    identification=lambda: TemplateMetric('TemplateIdentification', use_det_score=False, flip=None, ranks=(1, 2), fpirs=(0.5, )),
    tinyface=lambda: SearchMetric('TinyFaceIdentification', flip='add'))


def run(name, indices, batch_size=4, rows=None):
    """A metric over the given images in the given order."""
    metric = METRICS[name]()
    metric.dataset_meta = dict(template_set=template_set(), search_set=search_set())
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
    broken = embeddings() * torch.ones(IMAGES, 1, 1).index_fill(0, torch.tensor(9), torch.nan)
    results = {name: dict(interleaved=run(name, padded), all_on_last=run(name, list(range(IMAGES)) if rank else [], batch_size=5),
                          other_order=run(name, padded[::-1], batch_size=3)) for name in METRICS}
    results['missing'] = error('tinyface', [i for i in padded if i not in (4, 7)])
    results['broken'] = error('identification', padded, rows=broken)
    with open(output, 'w') as file:
        json.dump(results, file)
    torch.distributed.barrier()
    torch.distributed.destroy_process_group()  # or gloo's threads may outlive what they need
