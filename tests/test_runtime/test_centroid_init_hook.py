import numpy as np
import pytest
import torch
from mmengine.runner import Runner
from toy_training import ToyFaces, log_of, record, toy_config, train

HOOK = {'custom_hooks': [dict(type='CentroidInitHook'), dict(type='Recorder')]}


def prototypes(work_dir, **changes):
    """Those before the first iteration."""
    runner = Runner.from_cfg(toy_config(work_dir, **{**HOOK, **changes, 'optim_wrapper.optimizer.lr': 1e-30, 'train_cfg.max_epochs': 1}))
    start = runner.model.head.weight.detach().clone()
    runner.train()
    return runner, start


def means_by_hand(model, dataset, classes):
    """One image after the other, in float64 NumPy."""
    model.eval()
    sums = np.zeros((classes, 6))
    for i in range(len(dataset)):
        item = dataset[0, i]
        with torch.no_grad():
            data = model.data_preprocessor(dict(inputs=item['inputs'][None], data_samples=[item['data_samples']]), False)
            embedding = model(**data, mode='tensor')[0].double().numpy()
        label = int(item['data_samples'].gt_label)
        if label >= 0:
            sums[label] += embedding / np.linalg.norm(embedding)
    return sums / np.linalg.norm(sums, axis=1, keepdims=True)


def test_prototypes_start_from_the_normalised_class_means(tmp_path):
    still = {'model.backbone.batch_norm': False}  # so that the model after training is that before
    runner, _ = prototypes(tmp_path, **still, **{'train_dataloader.dataset.ignored': (3, 8)})
    expected = means_by_hand(runner.model, ToyFaces(ignored=(3, 8)), 5)
    assert np.abs(runner.model.head.weight.detach().numpy() - expected).max() < 1e-5


def test_a_class_without_images_keeps_its_prototype(tmp_path):
    runner, start = prototypes(tmp_path, **{'model.head.num_classes': 8, 'log_level': 'INFO'})
    weight = runner.model.head.weight.detach()
    assert torch.equal(weight[5:], start[5:])
    assert weight[:5].norm(dim=1).tolist() == pytest.approx([1] * 5)
    assert '5 prototypes start from the means of their classes, 3 classes without images keep their random ones' in log_of(tmp_path)


def test_it_is_deterministic_and_helps_from_the_first_iteration(tmp_path):
    for name in 'ab':
        train(tmp_path / name, **HOOK)
    assert record(tmp_path / 'a') == record(tmp_path / 'b')
    train(tmp_path / 'without', custom_hooks=[dict(type='Recorder')])
    first_loss = [float.fromhex(record(tmp_path / name)['train', 1][0]) for name in ('a', 'without')]
    assert first_loss[0] < first_loss[1] - 1


def test_a_resumed_run_keeps_what_it_has_learnt(tmp_path):
    train(tmp_path / 'whole', **HOOK)
    train(tmp_path / 'resumed', **HOOK, load_from=str(tmp_path / 'whole/epoch_1.pth'), resume=True)
    whole = record(tmp_path / 'whole')
    assert all(values == whole[key] for key, values in record(tmp_path / 'resumed').items())


def test_several_centres_a_class_are_refused(tmp_path):
    with pytest.raises(ValueError, match='one centre a class, this one has 3'):
        train(tmp_path, **HOOK, **{'model.head.num_centers': 3})
