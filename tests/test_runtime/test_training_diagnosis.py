"""Each planted fault gets its own diagnosis, and a sound training none."""
import math

import cv2
import numpy as np
import pytest
import torch
from mmengine.hooks import Hook
from toy_training import log_of, toy_config, train

from mmface.datasets.procedural import ProceduralFaces
from mmface.models import FaceClsHead
from mmface.registry import HOOKS, MODELS
from mmface.runtime.diagnosis import Collapse, ColourOrder, FirstLoss, Plateau, ShuffledLabels, Step
from mmface.runtime.diagnosis.first_loss import expected_first_loss
from mmface.runtime.diagnosis.step_dump import NonFiniteError, replay_step

LOSSES = ('SoftmaxLoss', 'NormFaceLoss', 'CosFaceLoss', 'ArcFaceLoss', 'AdaFaceLoss', 'CurricularFaceLoss', 'MagFaceLoss', 'P2SGradLoss',
          'GBCosFaceLoss', 'SphereFace2Loss', 'UniFaceLoss', 'L2SoftmaxLoss', 'AdaCosLoss', 'MVSoftmaxLoss')


def head_of(loss='CosFaceLoss', classes=200, dim=64, **kwargs):
    return FaceClsHead(classes, dim, dict(type=loss), **kwargs)


def step(number=1, images=None, labels=None, embeddings=None, classes=None, loss=1., head=None):
    return Step(number, images, labels, embeddings, labels if classes is None else classes, loss, head)


@pytest.fixture(scope='module')
def faces():
    """1,500 procedural faces of 150 people in random order."""
    drawn, order = ProceduralFaces(seed=3), np.random.default_rng(0).permutation(1500)
    images = np.empty((1500, 28, 28, 3), np.uint8)
    for at in np.argsort(order):  # a person's pictures in a row: people are remembered
        images[at] = cv2.resize(drawn.draw(int(order[at]) // 10, int(order[at]) % 10)[0], (28, 28), interpolation=cv2.INTER_AREA)
    return torch.from_numpy(images).permute(0, 3, 1, 2).contiguous(), torch.from_numpy(order // 10)


def words_of(check, images, labels, batch=64):
    found = [check.see(step(at // batch + 1, images[at:at + batch], labels[at:at + batch])) for at in range(0, len(images), batch)]
    said = [words for words in found if words]
    assert len(said) <= 1
    return said[0] if said else None


@pytest.mark.parametrize('centers', [1, 3])
@pytest.mark.parametrize('loss', LOSSES)
def test_the_first_loss_of_random_prototypes_is_the_expected_one(loss, centers):
    head = head_of(loss, num_centers=centers).train()
    embeddings = torch.randn(512, 64, generator=torch.Generator().manual_seed(1)) * 3
    labels = torch.randint(200, (512, ), generator=torch.Generator().manual_seed(2))
    value = float(head.compute_loss(embeddings, labels)['loss'])
    expected, spread = expected_first_loss(head, float(embeddings.norm(dim=1).mean()))
    assert value == pytest.approx(expected, abs=max(5 * spread / math.sqrt(512), .03 * expected))
    assert FirstLoss(loaded=False).see(step(embeddings=embeddings, loss=value, head=head)) is None


def test_prototypes_of_other_classes_are_noticed_when_they_are_loaded():
    head, labels = head_of('ArcFaceLoss'), torch.arange(200)
    embeddings = head.weight.detach() * 30 + .1 * torch.randn(200, 64, generator=torch.Generator().manual_seed(0))
    fits, permuted = (float(head.compute_loss(embeddings, y)['loss']) for y in (labels, labels.roll(1)))
    assert FirstLoss(loaded=True).see(step(embeddings=embeddings, loss=fits, head=head)) is None
    words = FirstLoss(loaded=True).see(step(embeddings=embeddings, loss=permuted, head=head))
    assert 'other classes, or of the same in another order' in words
    assert 'too good for a start' in FirstLoss(loaded=False).see(step(embeddings=embeddings, loss=fits, head=head))
    assert FirstLoss(loaded=True).see(step(2, embeddings=embeddings, loss=permuted, head=head)) is None


def test_red_and_blue_swapped_are_noticed(faces):
    images, labels = faces
    assert words_of(ColourOrder(), images, labels) is None
    assert 'come as BGR' in words_of(ColourOrder(), images.flip(1), labels)
    assert words_of(ColourOrder(), images.float().mean(1, keepdim=True).expand(-1, 3, -1, -1).to(torch.uint8), labels) is None  # grey


def test_labels_that_do_not_belong_to_the_images_are_noticed(faces):
    images, labels = faces
    assert words_of(ShuffledLabels(), images, labels) is None
    flipped = torch.where(torch.arange(len(images))[:, None, None, None] % 2 == 0, images, images.flip(3))
    assert words_of(ShuffledLabels(), flipped, labels) is None
    shuffled = labels[torch.randperm(len(labels), generator=torch.Generator().manual_seed(0))]
    assert 'do not belong to the images' in words_of(ShuffledLabels(), images, shuffled)
    assert words_of(ShuffledLabels(), images, torch.arange(len(labels))) is None  # nobody returns: no diagnosis


def test_a_loss_that_does_not_go_down_is_noticed():
    head, embeddings = head_of('NormFaceLoss'), torch.randn(8, 64)
    chance, _ = expected_first_loss(head, float(embeddings.norm(dim=1).mean()))

    def said(losses):
        check = Plateau(window=10)
        return [check.see(step(at + 1, embeddings=embeddings, loss=loss, head=head)) for at, loss in enumerate(losses)]

    stuck = said([chance] * 20)
    assert [bool(words) for words in stuck] == [False] * 19 + [True]
    assert 'has not gone down in 10 steps' in stuck[-1]
    assert not any(said([chance * .9**at for at in range(20)]))
    assert not any(said([chance / 10] * 20))  # it has arrived


def test_embeddings_that_collapse_are_noticed():
    labels, generator = torch.arange(32), torch.Generator().manual_seed(0)
    spread = torch.randn(32, 64, generator=generator)

    def said(embeddings):
        check = Collapse(window=5)
        return [check.see(step(at, embeddings=e, labels=labels)) for at, e in enumerate((spread, *[embeddings] * 4), 1)][-1]

    assert said(spread * .1) is None
    assert 'lost their length' in said(spread * .001)
    assert 'all point the same way' in said(torch.ones(32, 64) + .1 * spread)


@HOOKS.register_module()
class PoisonsGradient(Hook):
    """Spoils a gradient of the seventh step on its way, and keeps that step's losses."""

    def before_train_iter(self, runner, batch_idx, data_batch=None):
        if runner.iter == 6:
            runner.model.neck.layers[2].weight.register_hook(lambda gradient: gradient * torch.nan)
            runner.model.head.loss_module.register_forward_hook(lambda _module, _inputs, losses: LOSSES_SEEN.append(float(losses.mean())))


LOSSES_SEEN = []


@HOOKS.register_module()
class Poison(Hook):
    """Makes a weight so large, before the seventh step, that its gradient is not finite."""

    def before_train_iter(self, runner, batch_idx, data_batch=None):
        if runner.iter == 6:
            with torch.no_grad():
                runner.model.neck.layers[2].weight[0, 0] = 3e38
                runner.model.neck.layers[2].weight[0, 1] = 3e38


def test_a_gradient_that_is_not_finite_stops_before_the_weights_take_it_and_can_be_replayed(tmp_path):
    changes = {'custom_hooks': [dict(type='Poison'), dict(type='TrainingDiagnosisHook')], 'optim_wrapper.accumulative_counts': 1}
    with pytest.raises(NonFiniteError, match=r'iteration 7: gradients are not finite in \d+ parameters, such as .*; the weights are those'):
        train(tmp_path, **changes)
    dump, = tmp_path.glob('nonfinite_iter_7_rank_0.pth')
    model = MODELS.build(toy_config(tmp_path).model)
    loss, found = replay_step(model, dump)
    assert math.isnan(loss)
    assert found[0] == 'forward: the output of neck.layers.2'
    assert any(line.startswith('backward: the gradient of') for line in found)
    assert all(value.isfinite().all() for value in model.state_dict().values() if value.is_floating_point())
    with pytest.raises(ValueError, match='of another model'):
        replay_step(MODELS.build(dict(toy_config(tmp_path).model, neck=dict(type='ToyNeck', dim=6, channels=5))), dump)
    (tmp_path / 'none.pth').write_bytes(b'PK')
    with pytest.raises(ValueError, match='not a dump'):
        replay_step(model, tmp_path / 'none.pth')


def test_a_step_is_replayed_as_it_was_taken(tmp_path):
    """To the last bit, with dropout and a loss whose statistics move."""
    hooks = [dict(type='PoisonsGradient'), dict(type='TrainingDiagnosisHook')]
    with pytest.raises(NonFiniteError, match='gradients are not finite'):
        train(tmp_path, **{'custom_hooks': hooks, 'optim_wrapper.accumulative_counts': 1})
    found = replay_step(MODELS.build(toy_config(tmp_path).model), tmp_path / 'nonfinite_iter_7_rank_0.pth')
    assert found == (LOSSES_SEEN[-1], [])


def test_a_sound_training_gets_no_diagnosis_and_is_not_changed(tmp_path):
    weights = []
    for name, hooks in (('with', [dict(type='TrainingDiagnosisHook', plateau=10, collapse=10)]), ('without', [])):
        runner = train(tmp_path / name, custom_hooks=hooks, **{'optim_wrapper.accumulative_counts': 1})
        weights.append(runner.model.state_dict())
    assert 'Diagnosis' not in log_of(tmp_path / 'with')
    for name, value in weights[0].items():
        assert torch.equal(value, weights[1][name]), name


def test_a_diagnosis_reaches_the_log_once(tmp_path):
    changes = {'optim_wrapper.optimizer.lr': 0., 'train_cfg.max_epochs': 2, 'optim_wrapper.accumulative_counts': 1}
    train(tmp_path, custom_hooks=[dict(type='TrainingDiagnosisHook', plateau=5)], **changes)
    log = log_of(tmp_path)
    assert log.count('Diagnosis (Plateau), iteration') == 1
    assert 'has not gone down in 5 steps' in log
