"""BroadFace: a queue of past embeddings from which the prototypes learn."""
import pytest
import torch
from engines import LargeAllocations
from golden import build_head, cases

from mmface.registry import MODELS

CLASSES, DIM = 6, 4
ENGINES = [dict(type='DenseEngine'), dict(type='FusedEngine', mode='store'), dict(type='FusedEngine', mode='recompute', chunk_size=2)]


ARCFACE = dict(type='ArcFaceLoss', s=4.)


def build(type_='BroadFaceHead', loss=ARCFACE, **arguments):
    return MODELS.build(dict(type=type_, num_classes=CLASSES, in_channels=DIM, loss=loss, init_std=1., **arguments)).double()


def rows(seed, count=3):
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(count, DIM, dtype=torch.float64, generator=generator) * 5
    return x.requires_grad_(), torch.randint(CLASSES, (count, ), generator=generator)


def step(head, x, y):
    """The loss and its gradients in embeddings and prototypes."""
    loss = head.compute_loss(x, y)['loss']
    return loss.detach(), *torch.autograd.grad(loss, (x, head.weight))


@pytest.mark.parametrize('engine', ENGINES, ids=lambda engine: f"{engine['type']}-{engine.get('mode')}")
@pytest.mark.parametrize('case, inputs', cases(lambda case: case['id'].startswith('broadface')))
def test_worked_values_hold_in_every_engine(case, inputs, engine):
    head, x = build_head(case, inputs, engine=engine)
    loss, dx, dw = step(head, x, torch.tensor(inputs['y']))
    assert loss.item() == pytest.approx(case['loss'], rel=1e-10)
    torch.testing.assert_close(dx, x.new_tensor(case['dX']), rtol=0, atol=4e-10)
    torch.testing.assert_close(dw, x.new_tensor(case['dW']), rtol=0, atol=4e-10)


def test_with_an_empty_queue_the_gradients_are_those_of_the_plain_head():
    x, y = rows(0)
    loss, dx, dw = step(build(queue_size=5), x, y)
    plain_loss, plain_dx, plain_dw = step(build('FaceClsHead'), x, y)
    torch.testing.assert_close((loss, dx, dw), (2 * plain_loss, plain_dx, plain_dw))


def test_prototypes_learn_from_queue_and_batch_and_embeddings_from_the_batch_alone():
    head, plain = build(queue_size=8, compensate=False), build('FaceClsHead')
    (past, past_labels), (x, y) = rows(1), rows(2)
    head.compute_loss(past, past_labels)
    _, dx, dw = step(head, x, y)
    together = torch.cat([past, x]).detach().requires_grad_()
    _, plain_dx, _ = step(plain, x, y)
    _, _, plain_dw = step(plain, together, torch.cat([past_labels, y]))
    torch.testing.assert_close((dx, dw), (plain_dx, plain_dw))


def test_past_embedding_moves_as_its_prototype_has_moved():
    head = build(queue_size=2)
    head.queue_labels[0], head.queue_embeddings[0] = 3, torch.tensor([4., 0, 0, 3.])
    head.queue_prototypes[0] = torch.tensor([0., 2., 0, 0])
    seen = []
    head.queue_engine.register_forward_pre_hook(lambda module, args: seen.append(args[0]))
    x, y = rows(3, count=1)
    head.compute_loss(x, y)
    expected = torch.tensor([4., 0, 0, 3.]) + 5 / 2 * (head.weight.detach()[3] - head.queue_prototypes.new_tensor([0., 2, 0, 0]))
    torch.testing.assert_close(seen[0], torch.stack([expected, x[0].detach()]))


def test_queue_keeps_the_newest_and_skips_ignored_rows():
    head = build(queue_size=5)
    batches = [rows(seed) for seed in range(3)]
    labels = [y.index_fill(0, torch.tensor([1]), -1) if i == 1 else y for i, (_, y) in enumerate(batches)]
    for (x, _), y in zip(batches, labels, strict=True):
        head.compute_loss(x, y)
    everything, every_label = torch.cat([x.detach() for x, _ in batches]), torch.cat(labels)
    kept, kept_labels = everything[every_label >= 0][-5:], every_label[every_label >= 0][-5:]
    order = (torch.arange(5) + int(head.queued)) % 5
    torch.testing.assert_close(head.queue_embeddings[order], kept)
    assert head.queue_labels[order].tolist() == kept_labels.tolist()
    torch.testing.assert_close(head.queue_prototypes[order], head.weight.detach()[kept_labels])


def test_batch_larger_than_the_queue_leaves_its_last_rows():
    head = build(queue_size=2)
    x, y = rows(0, count=5)
    head.compute_loss(x, y)
    assert sorted(head.queue_labels.tolist()) == sorted(y[-2:].tolist())


def test_before_start_iter_and_in_eval_mode_the_head_is_the_plain_one():
    head, plain = build(queue_size=5, start_iter=2), build('FaceClsHead')
    for seed in range(2):
        x, y = rows(seed)
        torch.testing.assert_close(step(head, x, y), step(plain, x, y))
    x, y = rows(2)
    queued = head.queued.clone()
    torch.testing.assert_close(step(head.eval(), x, y), step(plain.eval(), x, y))
    assert head.queued == queued
    assert not torch.allclose(step(head.train(), x, y)[0], step(plain, x, y)[0])


def test_queue_does_not_move_the_state_of_the_loss():
    head, plain = build(queue_size=5, loss=dict(type='AdaFaceLoss')), build('FaceClsHead', loss=dict(type='AdaFaceLoss'))
    for seed in range(3):
        x, y = rows(seed)
        head.compute_loss(x, y)
        plain.compute_loss(x, y)
    torch.testing.assert_close(head.loss_module.state_dict(), plain.loss_module.state_dict())
    assert head.loss_module.training


def test_losses_per_sample_are_those_of_the_batch():
    x, y = rows(0)
    head, plain = build(queue_size=5), build('FaceClsHead')
    torch.testing.assert_close(head.compute_loss(x, y, reduction='none'), plain.compute_loss(x, y, reduction='none'))


def test_queue_continues_from_a_checkpoint():
    head, resumed = build(queue_size=5), build(queue_size=5)
    for seed in range(3):
        head.compute_loss(*rows(seed))
    resumed.load_state_dict(head.state_dict())
    x, y = rows(9)
    torch.testing.assert_close(step(resumed, x, y), step(head, x, y), rtol=0, atol=0)


@pytest.mark.parametrize('engine', [*ENGINES, dict(type='FusedEngine'), dict(type='SampledEngine', ratio=1., mode='store')], ids=str)
def test_queue_pass_stores_no_array_of_the_queues_size(engine):
    classes, dim, queue = 40, 4, 30
    head = MODELS.build(
        dict(type='BroadFaceHead', num_classes=classes, in_channels=dim, loss=ARCFACE, queue_size=queue, engine=dict(engine)))
    head.queue_engine.chunk_size = 8
    x, y = torch.randn(queue, dim, generator=torch.Generator().manual_seed(0)), torch.arange(queue)
    head.compute_loss(x, y)
    with LargeAllocations(classes * queue) as made:
        head.compute_loss(x[:2], y[:2])
    assert head.queue_engine.mode == 'recompute' and made.count == 0


@pytest.mark.parametrize('arguments, message', [
    (dict(queue_size=0), 'queue_size must be at least 1'),
    (dict(start_iter=-1), 'start_iter not negative'),
    (dict(num_centers=2), 'num_centers=2'),
])
def test_impossible_value_is_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        build(**arguments)
