"""The head: what it owns, what it accepts, and how it counts."""
import pytest
import torch
from engines import ENGINES, build, rows

from mmface.models.heads.draw_prototypes import INIT_BLOCK, draw_prototypes
from mmface.registry import MODELS
from mmface.structures import FaceDataSample

DENSE = dict(type='DenseEngine')
every_engine = pytest.mark.parametrize('engine', [DENSE, *ENGINES.values()], ids=['dense', *ENGINES])


def head(loss='ArcFaceLoss', engine=DENSE, **arguments):
    return build(engine, dict(type=loss), **arguments)


def test_prototypes_depend_on_seed_and_class_alone():
    few, many = draw_prototypes(0, 5, 1, 3, .01, seed=7), draw_prototypes(0, INIT_BLOCK + 5, 1, 3, .01, seed=7)
    assert (few == many[:5]).all()
    assert not (many[:5] == many[INIT_BLOCK:]).any()
    assert not (few == draw_prototypes(0, 5, 1, 3, .01, seed=8)).any()
    assert abs(many.std() - .01) < 3e-4 and abs(many.mean()) < 3e-4


def test_centres_of_a_class_are_neighbours():
    built = MODELS.build(dict(type='FaceClsHead', num_classes=4, in_channels=3, num_centers=2, loss=dict(type='CosFaceLoss')))
    assert built.weight.shape == (8, 3)
    embedding = built.weight[5:6].detach()  # the second centre of class 2
    assert built.compute_loss(embedding, torch.tensor([2]))['target_cosine'] == pytest.approx(1.)


def test_a_loss_that_uses_a_bias_gets_one():
    assert head('SoftmaxLoss').bias.shape == (13, )
    assert head('ArcFaceLoss').bias is None
    assert MODELS.build(dict(type='FaceClsHead', num_classes=3, in_channels=2, loss=dict(type='SoftmaxLoss'))).bias.abs().max() == 0


@every_engine
@pytest.mark.parametrize('loss', ['ArcFaceLoss', 'L2SoftmaxLoss', 'SoftmaxLoss'])
def test_the_logged_cosine_is_that_of_embedding_and_own_prototype(loss, engine):
    x, y = rows()
    built = head(loss, engine)
    counted = y >= 0
    expected = torch.cosine_similarity(x[counted], built.weight[y[counted]]).mean()
    cosine = built.compute_loss(x, y)['target_cosine']
    torch.testing.assert_close(cosine, expected.detach())
    assert not cosine.requires_grad


@every_engine
def test_rows_labelled_minus_one_change_nothing(engine):
    x, y = rows()
    counted = y >= 0
    for loss in ('AdaFaceLoss', 'CurricularFaceLoss', 'P2SGradLoss'):
        whole, part = head(loss, engine), head(loss, engine)
        torch.testing.assert_close(whole.compute_loss(x, y)['loss'], part.compute_loss(x[counted], y[counted])['loss'])
        for name, buffer in whole.loss_module.named_buffers():
            torch.testing.assert_close(buffer, part.loss_module.get_buffer(name))


@every_engine
def test_losses_of_single_rows_have_the_mean_for_mean_and_0_where_nothing_counts(engine):
    x, y = rows()
    each = head(engine=engine).compute_loss(x, y, reduction='none')
    assert each.keys() == {'loss'} and each['loss'].shape == y.shape
    assert (each['loss'][y < 0] == 0).all()
    torch.testing.assert_close(each['loss'].sum() / (y >= 0).sum(), head(engine=engine).compute_loss(x, y)['loss'])


@every_engine
def test_weights_scale_the_losses_but_not_what_they_are_divided_by(engine):
    x, y = rows()
    weight = torch.linspace(0, 3, len(y))
    each = head(engine=engine).compute_loss(x, y, reduction='none')['loss']
    weighted = head(engine=engine).compute_loss(x, y, weight)['loss']
    torch.testing.assert_close(weighted, (each * weight).sum() / (y >= 0).sum())
    torch.testing.assert_close(head(engine=engine).compute_loss(x, y, weight, 'none')['loss'], each * weight)


def test_a_batch_in_which_nothing_counts_costs_nothing():
    x, y = rows()
    x.requires_grad_()
    losses = head().compute_loss(x, torch.full_like(y, -1))
    losses['loss'].backward()
    assert losses['loss'] == 0 and losses['target_cosine'] == 0 and not x.grad.any()


def test_samples_carry_their_labels():
    x, y = rows()
    torch.testing.assert_close(head().loss(x, FaceDataSample(gt_label=y)), head().compute_loss(x, y))


@every_engine
@pytest.mark.parametrize('dtype', [torch.float16, torch.bfloat16])
def test_half_precision_embeddings_give_the_loss_of_their_values(dtype, engine):
    x, y = rows(length=2.)
    x = x.to(dtype)
    expected = head(dtype=torch.float32).compute_loss(x.float(), y)['loss']
    with torch.autocast('cpu', dtype):
        actual = head(engine=engine, dtype=torch.float32).compute_loss(x, y)['loss']
    assert actual.dtype == torch.float32
    torch.testing.assert_close(actual, expected, rtol=1e-5, atol=0)


@pytest.mark.parametrize('label', [13, 100, -2])
def test_a_label_outside_the_range_is_named(label):
    x, y = rows()
    y[3] = label
    with pytest.raises(ValueError, match=rf'label {label} of row 3 in the batch is outside \[0, 13\)'):
        head().compute_loss(x, y)


@pytest.mark.parametrize('x, y', [((8, 5), (8, )), ((8, 6, 1), (8, )), ((8, 6), (7, )), ((8, 6), (8, 1))], ids=str)
def test_wrong_shapes_are_refused(x, y):
    with pytest.raises(ValueError, match=r'needs embeddings \[B, 6\] and labels \[B\], got'):
        head().compute_loss(torch.zeros(x), torch.zeros(y, dtype=torch.long))


def test_an_unknown_reduction_is_refused():
    with pytest.raises(ValueError, match="must be 'mean' or 'none', got 'sum'"):
        head().compute_loss(*rows(), reduction='sum')


@pytest.mark.parametrize('argument', ['num_classes', 'in_channels', 'num_centers'])
def test_sizes_below_1_are_refused(argument):
    with pytest.raises(ValueError, match=f'{argument} must be at least 1, got 0'):
        MODELS.build({**dict(type='FaceClsHead', num_classes=3, in_channels=2, loss=dict(type='CosFaceLoss')), argument: 0})
