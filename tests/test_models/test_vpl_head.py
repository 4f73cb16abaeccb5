"""VPL: prototypes mixed with the last embedding of their class."""
import pytest
import torch
from engines import LargeAllocations
from golden import build_head, cases
from torch.nn import functional as F

from mmface.registry import MODELS

CLASSES, DIM = 6, 4
ENGINES = [dict(type='DenseEngine'), dict(type='FusedEngine', mode='store'), dict(type='FusedEngine', mode='recompute', chunk_size=2)]


ARCFACE = dict(type='ArcFaceLoss', s=4.)


def build(type_='VPLHead', loss=ARCFACE, **arguments):
    return MODELS.build(dict(type=type_, num_classes=CLASSES, in_channels=DIM, loss=loss, init_std=1., **arguments)).double()


def rows(seed, labels):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(len(labels), DIM, dtype=torch.float64, generator=generator) * 5, torch.tensor(labels)


@pytest.mark.parametrize('engine', ENGINES, ids=lambda engine: f"{engine['type']}-{engine.get('mode')}")
@pytest.mark.parametrize('case, inputs', cases(lambda case: case['id'].startswith('vpl')))
def test_worked_values_hold_in_every_engine(case, inputs, engine):
    head, x = build_head(case, inputs, engine=engine)
    loss = head.compute_loss(x, torch.tensor(inputs['y']))['loss']
    loss.backward()
    assert loss.item() == pytest.approx(case['loss'], rel=1e-10)
    torch.testing.assert_close(x.grad, x.new_tensor(case['dX']), rtol=0, atol=4e-10)
    torch.testing.assert_close(head.weight.grad, x.new_tensor(case['dW']), rtol=0, atol=8e-10)


def test_mix_is_what_a_plain_head_with_mixed_prototypes_computes():
    head, plain = build(start_iter=1, lam=.3), build('FaceClsHead')
    past, past_labels = rows(0, [1, 4])
    head.compute_loss(past, past_labels)
    unit = F.normalize(plain.weight.data)
    unit[past_labels] = .7 * unit[past_labels] + .3 * F.normalize(past)
    plain.weight.data.copy_(unit)
    x, y = rows(1, [1, 2, 0])
    torch.testing.assert_close(head.compute_loss(x, y)['loss'], plain.compute_loss(x, y)['loss'])


def test_backward_mixes_with_the_memory_of_the_forward():
    heads = [build(start_iter=1, engine=engine) for engine in ENGINES]
    (past, past_labels), (x, y) = rows(0, [1, 4]), rows(1, [1, 4, 0])
    gradients = []
    for head in heads:
        head.compute_loss(past, past_labels)
        gradients.append(torch.autograd.grad(head.compute_loss(x.requires_grad_(), y)['loss'], (x, head.weight)))
    torch.testing.assert_close(gradients[1], gradients[0])
    torch.testing.assert_close(gradients[2], gradients[0])


def test_two_forwards_may_precede_the_backwards():
    batches = [rows(1, [1, 4, 0]), rows(2, [4, 4, 5]), rows(3, [0, 1, 2])]
    gradients = []
    for at_once in (False, True):
        for engine in ENGINES:
            head = build(start_iter=1, engine=engine)
            head.compute_loss(*rows(0, [1, 4]))
            losses = (head.compute_loss(x, y)['loss'] for x, y in batches)
            gradients.append([torch.autograd.grad(loss, head.weight)[0] for loss in (list(losses) if at_once else losses)])
    for other in gradients[1:]:
        torch.testing.assert_close(other, gradients[0])


def test_the_memory_is_not_copied():
    classes, dim = 96, 16
    loss, engine = dict(type='ArcFaceLoss'), dict(type='FusedEngine', mode='recompute', chunk_size=8)
    head = MODELS.build(dict(type='VPLHead', num_classes=classes, in_channels=dim, loss=loss, start_iter=1, engine=engine))
    x, y = torch.randn(4, dim, generator=torch.Generator().manual_seed(0)), torch.tensor([1, 4, 4, 63])
    head.compute_loss(x, y)
    for expected in (1, 0):  # the memory of the gradient, once and for all
        head.zero_grad()
        with LargeAllocations(classes * dim) as made:
            head.compute_loss(x, y)['loss'].backward()
        assert made.count == expected


@pytest.mark.parametrize('mode', ['store', 'recompute'])
def test_sampled_classes_are_mixed_as_those_of_a_head_that_has_no_others(mode):
    sampled = build(start_iter=1, lam=.4, engine=dict(type='SampledEngine', ratio=.4, seed=2, mode=mode, chunk_size=2))
    small = build(start_iter=1, lam=.4)
    sampled.compute_loss(*rows(0, [1, 4, 2]))
    x, y = rows(1, [1, 5])
    loss = sampled.compute_loss(x.requires_grad_(), y)['loss']
    dx, dw = torch.autograd.grad(loss, (x, sampled.weight))
    drawn = dw.coalesce().indices().squeeze(0)
    assert sampled.engine.row_sparse and 2 < len(drawn) < CLASSES

    small.weight = torch.nn.Parameter(sampled.weight.detach()[drawn])
    small.num_classes, small.memory, small.seen = len(drawn), torch.zeros(len(drawn), DIM).double(), torch.full((len(drawn), ), -1)
    past, labels = rows(0, [1, 4, 2])
    place = {int(c): i for i, c in enumerate(drawn)}
    kept = [i for i, label in enumerate(labels.tolist()) if label in place]
    small.compute_loss(past[kept], torch.tensor([place[int(labels[i])] for i in kept]))
    expected = small.compute_loss(x, torch.searchsorted(drawn, y))['loss']
    torch.testing.assert_close((loss, dx, dw.coalesce().values()), (expected, *torch.autograd.grad(expected, (x, small.weight))))


def test_embedding_is_used_from_start_iter_on_and_for_delta_batches():
    head, plain = build(start_iter=2, delta=2), build('FaceClsHead')
    x, y = rows(1, [0, 0])
    mixed = []
    for labels in ([3], [4], [4], [4], [4]):
        mixed.append(not torch.allclose(head.eval().compute_loss(x, y)['loss'], plain.compute_loss(x, y)['loss']))
        past, past_labels = rows(0, labels)
        head.train().compute_loss(past, past_labels)
    assert not any(mixed)  # evaluation never mixes
    assert head.seen.tolist() == [-1, -1, -1, 0, 4, -1]

    head = build(start_iter=2, delta=2)
    shares = []
    head.engine.register_forward_pre_hook(lambda engine, _: shares.append(engine.mix and engine.mix.keywords['share'].tolist()))
    for labels in ([3], [4], [4], [4], [4]):
        head.compute_loss(*rows(0, labels))
    assert shares == [None, None, [0, 0, 0, .15, .15, 0], [0, 0, 0, 0, .15, 0], [0, 0, 0, 0, .15, 0]]


def test_memory_is_the_last_embedding_of_a_class_and_skips_ignored_rows():
    head = build()
    x, y = rows(0, [2, 5, 2, -1, 5, 2])
    head.compute_loss(x, y)
    torch.testing.assert_close(head.memory[[2, 5]], x[[5, 4]])
    assert not head.memory[[0, 1, 3, 4]].any()
    head.compute_loss(*rows(1, [-1]))
    assert head.iteration == 2


def test_memory_continues_from_a_checkpoint():
    head, resumed = build(start_iter=1), build(start_iter=1)
    head.compute_loss(*rows(0, [1, 2]))
    head.compute_loss(*rows(1, [3, 2]))
    resumed.load_state_dict(head.state_dict())
    x, y = rows(2, [1, 3])
    torch.testing.assert_close(resumed.compute_loss(x, y), head.compute_loss(x, y), rtol=0, atol=0)


@pytest.mark.parametrize('arguments, message', [
    (dict(lam=1.), r'lam must lie in \[0, 1\)'),
    (dict(delta=-1), 'delta and start_iter are not negative'),
    (dict(num_centers=2), 'num_centers=2'),
    (dict(loss=dict(type='SoftmaxLoss')), 'SoftmaxLoss'),
])
def test_impossible_value_is_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        build(**arguments)
