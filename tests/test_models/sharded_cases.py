"""Training steps of a head whose classes one process holds, or several."""
import itertools

import torch
from torch import nn

import mmface.models  # noqa: F401  (registers the losses)
from mmface.models import Elementwise, FaceLoss
from mmface.registry import MODELS
from mmface.structures import FaceDataSample

DIM, BATCH, STEPS = 5, 12, 2
ENGINES = dict(
    dense=dict(type='DenseEngine'),
    store=dict(type='FusedEngine', mode='store', chunk_size=3),
    recompute=dict(type='FusedEngine', mode='recompute', chunk_size=3),
    sampled=dict(type='SampledEngine', ratio=.4, mode='store', chunk_size=3))


@MODELS.register_module()
class ProbeLoss(FaceLoss):
    """Negatives that depend smoothly on the target and on parameters which nothing else uses."""

    def __init__(self, kind, num_classes=None):
        super().__init__(num_classes)
        self.kind = kind
        self.a, self.b = nn.Parameter(torch.tensor(1.5)), nn.Parameter(torch.tensor(.3))

    def prepare(self, t):
        row = self.b * t.similarity + t.prototype_norm.log1p()
        return Elementwise(self.kind, lambda v, a, row: 4 * a * v * (1 + .1 * (v - row)**2), self.a, row)

    def forward(self, t, S):
        return S.masked_fill(S.isneginf(), 0.)


#: Loss and its arguments, the scale 4 where there is one.
LOSSES = dict(
    adacos=dict(type='AdaCosLoss'),
    adaface=dict(type='AdaFaceLoss', s=4., momentum=.5),
    arcface=dict(type='ArcFaceLoss', s=4.),
    coco=dict(type='COCOLoss', alpha=4.),
    combined=dict(type='CombinedMarginLoss', s=4.),
    cosface=dict(type='CosFaceLoss', s=4.),
    curricularface=dict(type='CurricularFaceLoss', s=4., momentum=.5),
    elasticface=dict(type='ElasticFaceLoss', s=4., plus=True),
    gb_cosface=dict(type='GBCosFaceLoss', s=4., gamma=.5, detach_boundary=False),
    l2_softmax=dict(type='L2SoftmaxLoss', alpha=4.),
    l_softmax=dict(type='LSoftmaxLoss', lam=1.),
    magface=dict(type='MagFaceLoss', s=4.),
    mv_softmax=dict(type='MVSoftmaxLoss', s=4.),
    normface=dict(type='NormFaceLoss', s=4., learn_scale=True),
    p2sgrad=dict(type='P2SGradLoss'),
    scf=dict(type='SCFLoss', dim=DIM),
    softmax=dict(type='SoftmaxLoss'),
    sphereface2=dict(type='SphereFace2Loss', r=4.),
    sphereface=dict(type='SphereFaceLoss', lam=1.),
    sphereface_r=dict(type='SphereFaceRLoss', s=4., version='v2'),
    uniface=dict(type='UniFaceLoss', s=4.),
    probe_lse=dict(type='ProbeLoss', kind='lse'),
    probe_sum=dict(type='ProbeLoss', kind='sum'))

#: The heads that are more than the plain one, and what they are tried with.
HEADS = dict(
    subcenters=dict(num_centers=3, loss=LOSSES['arcface']),
    subcenters_with_bias=dict(num_centers=3, loss=LOSSES['softmax']),
    vpl=dict(type='VPLHead', start_iter=1, lam=.3, delta=1, loss=LOSSES['cosface']),
    vpl_adaface=dict(type='VPLHead', start_iter=0, lam=.3, loss=LOSSES['adaface']),
    broadface=dict(type='BroadFaceHead', queue_size=16, loss=LOSSES['arcface']),
    broadface_small_queue=dict(type='BroadFaceHead', queue_size=5, start_iter=1, compensate=False, loss=LOSSES['uniface']),
    scf=dict(type='SCFHead', feat_channels=2 * DIM, hidden=(4, )))

#: How many classes there are for how many processes: of 12 two have as many each, of 13 three do not, of 5 the fourth of four has none.
CLASSES = {1: 13, 2: 12, 3: 13, 4: 5}
#: By name: arguments of the head, and dtype.
CASES = {
    f'{name}-{engine}-{bits}': (dict(head, engine=ENGINES[engine]), getattr(torch, f'float{bits}'))
    for (name, head), (engine, bits) in itertools.product(
        [*((name, dict(loss=loss)) for name, loss in LOSSES.items()), *((f'head_{name}', head) for name, head in HEADS.items())],
        [('dense', 64), ('store', 64), ('recompute', 64), ('sampled', 64), ('store', 32)])
}
#: Of these, trained behind a layer under DistributedDataParallel.
IN_DDP = ('normface-store-64', 'uniface-sampled-64', 'probe_lse-dense-64', 'softmax-recompute-64', 'head_scf-store-64')


def rows(step, classes, dtype):
    """Embeddings ``[BATCH, DIM]``, labels and weights: in the second step of the first class only, in all some that do not count."""
    generator = torch.Generator().manual_seed(step)
    labels = torch.randint(1 if step == 1 else classes, (BATCH, ), generator=generator)
    labels[step * 3:step * 3 + 2] = -1
    embeddings = torch.randn(BATCH, DIM, generator=generator, dtype=torch.float64).to(dtype) * 2
    return embeddings, labels, torch.rand(BATCH, generator=generator, dtype=torch.float64).to(dtype)


def build(arguments, classes, dtype, sharded):
    torch.manual_seed(0)
    config = dict(type='FaceClsHead', in_channels=DIM, num_classes=classes, init_std=1., sharded=sharded)
    head = MODELS.build(config | arguments).to(dtype)
    if head.bias is not None:
        head.bias.data.copy_(torch.linspace(-1, 1, head.num_classes, dtype=torch.float64)[slice(*head.classes)])
    head.shards_are_saved = True
    return head


def run(arguments, dtype, classes, rank=0, world=1, sharded=False):
    """Losses, gradients and state of some steps of plain descent, and losses a row of one more, by name."""
    head = build(arguments, classes, dtype, sharded)
    share = slice(rank, BATCH, world)
    results = {}
    for step in range(STEPS):
        x, y, weight = (t[share] for t in rows(step, classes, dtype))
        x = x.clone().requires_grad_()
        head.zero_grad()
        if head.needs_feature_map:
            losses = head.loss(x, FaceDataSample(gt_label=y), torch.cat([x, x**2], 1))
        else:
            losses = head.compute_loss(x, y, weight if step else None)
        losses['loss'].backward()
        results.update({f'{name}.{step}': value.detach() for name, value in losses.items() if name != 'kappa'})
        gradient = torch.zeros_like(x) if x.grad is None else x.grad / world  # what DistributedDataParallel makes of it
        results[f'embeddings.{step}'] = dict(rows=gradient)
        for name, p in head.named_parameters():
            if p.requires_grad and 'log_kappa' not in name:  # DistributedDataParallel's
                g = torch.zeros_like(p) if p.grad is None else p.grad.to_dense()
                results[f'd{name}.{step}'] = dict(classes=g) if name in ('weight', 'bias') else g.clone()
                p.data -= .05 * g
    for name, buffer in head.named_buffers():
        results[name] = dict(classes=buffer.clone()) if name in ('memory', 'seen') else buffer.clone()
    if head.needs_feature_map:
        return results
    x = x.detach().clone().requires_grad_()
    per_row = head.compute_loss(x, y, weight, reduction='none')['loss']
    (per_row.square().sum() / BATCH * world).backward()
    results['per_row'], results['embeddings.none'] = dict(rows=per_row.detach()), dict(rows=x.grad / world)
    return results


class Net(nn.Module):

    def __init__(self, arguments, classes, sharded):
        super().__init__()
        torch.manual_seed(0)
        self.layer = nn.Linear(DIM, DIM).double()
        self.head = build(arguments, classes, torch.float64, sharded)
        self.layer.requires_grad_(not self.head.needs_feature_map)
        self._ddp_params_and_buffers_to_ignore = [f'head.{name}' for name in self.head.ignored_by_ddp()]

    def forward(self, x, y):
        x = self.layer(x)
        if self.head.needs_feature_map:
            return self.head.loss(x, FaceDataSample(gt_label=y), torch.cat([x, x**2], 1))['loss']
        return self.head.compute_loss(x, y)['loss']


def train(arguments, classes, rank=0, world=1, sharded=False):
    """The layer and what the loss has learned after some steps of SGD, each on two halves of a batch, under DistributedDataParallel."""
    net = Net(arguments, classes, sharded)
    model = nn.parallel.DistributedDataParallel(net) if world > 1 else net
    for step in range(STEPS):
        x, y, _ = rows(step, classes, torch.float64)
        net.zero_grad()
        for half in range(2):
            part = slice(half * 6 + rank, half * 6 + 6, world)
            (model(x[part], y[part]) / 2).backward()
        for p in net.parameters():
            if p.grad is not None:
                p.data -= .05 * p.grad.to_dense()
    return {name: p.detach() for name, p in net.named_parameters() if name not in ('head.weight', 'head.bias')}
