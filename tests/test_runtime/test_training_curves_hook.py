"""What a training's curves hold is what its steps did."""
import json
import math

import numpy as np
import pytest
import torch
from mmengine.hooks import Hook
from toy_training import CLASSES, train

from mmface.models.losses.softmax_form import is_softmax
from mmface.registry import HOOKS, MODELS

QUANTITIES = {'theta_y', 'theta_j', 'probability', 'gradient', 'feature_norm'}


@HOOKS.register_module()
class KeepsVectors(Hook):
    """Keeps what the loss was asked in the second step, to be worked out by formulas."""
    priority = 'VERY_HIGH'

    def before_train_iter(self, runner, batch_idx, data_batch=None):
        if runner.iter == 1:
            head = runner.model.head
            self.weight = head.weight.detach().double().clone()
            self.handle = head.engine.register_forward_pre_hook(
                lambda _, inputs: self.__dict__.update(x=inputs[0].detach().double().clone(), y=inputs[1].clone()))

    def after_train_iter(self, runner, batch_idx, data_batch=None, outputs=None):
        if runner.iter == 1:
            self.handle.remove()


def curves(folder):
    return [json.loads(line) for line in (folder / 'training_curves.jsonl').read_text().splitlines()]


def trained(folder, loss, **changes):
    hooks = [dict(type='TrainingCurvesHook', interval=2, negatives=4000), dict(type='KeepsVectors')]
    runner = train(folder, **{'model.head.loss': dict(loss, _delete_=True), 'custom_hooks': hooks, 'train_cfg.max_epochs': 1,
                              'val_cfg': None, 'val_dataloader': None, 'val_evaluator': None, **changes})  # yapf: disable
    return next(hook for hook in runner.hooks if isinstance(hook, KeepsVectors))


def test_a_record_is_what_the_formulas_give_for_that_step(tmp_path):
    kept = trained(tmp_path, dict(type='CosFaceLoss', s=8., m=.2))
    record = curves(tmp_path)[0]
    assert record['iter'] == 2
    x, w = (torch.nn.functional.normalize(v) for v in (kept.x, kept.weight))
    cosine = (x @ w.t()).numpy()
    own = np.arange(len(x)), kept.y.numpy()
    logit = 8 * cosine
    logit[own] -= 8 * .2
    p = (np.exp(logit) / np.exp(logit).sum(1, keepdims=True))[own]
    angles, norms = np.degrees(np.arccos(cosine[own])), kept.x.norm(dim=1).numpy()
    expected = dict(theta_y=angles, probability=p, gradient=8 * (1 - p), feature_norm=norms)
    for name, values in expected.items():
        assert record[name]['mean'] == pytest.approx(values.mean(), rel=1e-4), name
        for percent in (5, 25, 50, 75, 95):
            assert record[name][f'p{percent}'] == pytest.approx(np.percentile(values, percent), rel=1e-3), name
    others = np.ones_like(cosine, bool)
    others[own] = False
    assert record['theta_j']['mean'] == pytest.approx(np.degrees(np.arccos(cosine[others])).mean(), abs=1)  # drawn, 4,000 times
    assert record['state'] == {}


@pytest.mark.parametrize(('loss', 'quantities', 'state'), [
    (dict(type='P2SGradLoss'), QUANTITIES - {'probability'}, set()),
    (dict(type='AdaFaceLoss', s=8.), QUANTITIES, {'norm_mean', 'norm_std'}),
    (dict(type='NormFaceLoss', s=8., learn_scale=True), QUANTITIES, {'s'}),
    (dict(type='SoftmaxLoss'), QUANTITIES, set()),
    (dict(type='GBCosFaceLoss', s=8.), QUANTITIES - {'probability'}, {'p_vg'}),
])
def test_losses_have_the_curves_and_the_state_that_are_theirs(tmp_path, loss, quantities, state):
    trained(tmp_path, loss, **{'default_hooks.checkpoint': None})
    records = curves(tmp_path)
    assert [record['iter'] for record in records] == [2, 4, 6, 8, 10]
    for record in records:
        assert set(record) == {'iter', 'state', *quantities}
        assert set(record['state']) == state
        assert all(math.isfinite(value) for name in quantities for value in record[name].values())
    if loss['type'] == 'P2SGradLoss':
        row = records[0]
        assert row['gradient']['p50'] == pytest.approx(1 - math.cos(math.radians(row['theta_y']['p50'])), rel=.1)


def test_the_training_itself_is_not_changed(tmp_path):
    weights = []
    for name, hooks in (('with', [dict(type='TrainingCurvesHook', interval=1)]), ('without', [])):
        runner = train(tmp_path / name, custom_hooks=hooks, **{'train_cfg.max_epochs': 1})
        weights.append(runner.model.state_dict())
    for name, value in weights[0].items():
        assert torch.equal(value, weights[1][name]), name


def test_a_resumed_training_goes_on_with_the_file(tmp_path):
    hooks = [dict(type='TrainingCurvesHook', interval=3)]
    train(tmp_path / 'whole', custom_hooks=hooks)
    train(tmp_path / 'parts', custom_hooks=hooks, **{'train_cfg.max_epochs': 2})
    (tmp_path / 'parts/epoch_2.pth').unlink()
    (tmp_path / 'parts/last_checkpoint').write_text('epoch_1.pth')
    with (tmp_path / 'parts/training_curves.jsonl').open('a') as file:
        file.write('{"iter": 33, "cut')
    train(tmp_path / 'parts', custom_hooks=hooks, resume=True)
    assert (tmp_path / 'parts/training_curves.jsonl').read_text() == (tmp_path / 'whole/training_curves.jsonl').read_text()
    assert len(curves(tmp_path / 'whole')) == 10


def test_which_losses_have_a_probability():
    expected = dict(CosFaceLoss=True, ArcFaceLoss=True, AdaFaceLoss=True, MagFaceLoss=True, SoftmaxLoss=True, CurricularFaceLoss=True,
                    P2SGradLoss=False, UniFaceLoss=False, SphereFace2Loss=False)  # yapf: disable
    for name, answer in expected.items():
        loss = MODELS.build(dict(type=name, num_classes=CLASSES)).train()
        before = {key: value.clone() for key, value in loss.state_dict().items()}
        assert is_softmax(loss) is answer, name
        assert loss.training
        assert all(torch.equal(value, before[key]) for key, value in loss.state_dict().items())
    for alpha, answer in ((0., True), (.5, False), (1., False)):
        assert is_softmax(MODELS.build(dict(type='GBCosFaceLoss', alpha=alpha, num_classes=CLASSES))) is answer
