"""A few training steps of a layer and a head, in one process or spread over several; a module of its own so that it can be spawned."""
import torch
import torch.distributed as dist
from engines import build, rows
from torch import nn

from mmface.runtime.optim.drawn_rows import drawn_rows

CLASSES, DIM, STEPS = 30, 6, 3
SAMPLED = dict(type='SampledEngine', ratio=.3, chunk_size=8)
CASES = dict(
    store=(dict(type='FusedEngine', mode='store', chunk_size=8), 'AdaFaceLoss', {}),
    bucket_views=(dict(type='FusedEngine', mode='recompute'), 'SoftmaxLoss', dict(gradient_as_bucket_view=True)),
    sampled=(SAMPLED, 'CosFaceLoss', {}),
    sampled_with_bias=(SAMPLED, 'SoftmaxLoss', {}))


class Net(nn.Module):

    def __init__(self, engine, loss):
        super().__init__()
        torch.manual_seed(0)
        self.layer = nn.Linear(DIM, DIM).double()
        self.head = build(engine, dict(type=loss), CLASSES, DIM)
        if engine is SAMPLED:
            self._ddp_params_and_buffers_to_ignore = ['head.weight', 'head.bias']

    def forward(self, x, y):
        return self.head.compute_loss(self.layer(x), y)['loss']


def train(case, rank, ranks):
    """State after the steps, and the losses; each rank has its share of every batch."""
    engine, loss, arguments = CASES[case]
    net = Net(engine, loss)
    model = nn.parallel.DistributedDataParallel(net, **arguments) if ranks > 1 else net
    optimizer = torch.optim.SGD(net.parameters(), lr=.1, momentum=.9, weight_decay=.01)
    losses = []
    for i in range(STEPS):
        x, y = rows(12, CLASSES, DIM, seed=i)
        share = slice(rank * 12 // ranks, (rank + 1) * 12 // ranks)  # the last one has all rows that do not count
        optimizer.zero_grad()
        value = model(x[share], y[share])
        value.backward()
        losses.append(value.detach())
        with drawn_rows(optimizer):
            optimizer.step()
    return dict(net.state_dict(), losses=torch.stack(losses))


def main(rank, ranks, folder):
    torch.set_num_threads(1)
    dist.init_process_group('gloo', init_method=f'file://{folder}/meeting', rank=rank, world_size=ranks)
    torch.save({case: train(case, rank, ranks) for case in CASES}, f'{folder}/{rank}.pt')
    dist.destroy_process_group()
