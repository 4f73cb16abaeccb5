"""Classes sharded over processes: every number is that of one process with the whole batch."""
import pytest
import sharded_cases
import sharded_errors
import torch
from sharded_cases import CASES, CLASSES, IN_DDP

from mmface.models.heads.class_shard import ShardSpec, class_range, sharded_tensors
from mmface.models.heads.draw_prototypes import INIT_BLOCK, draw_prototypes
from mmface.registry import MODELS
from mmface.structures import FaceDataSample


def whole(parts):
    """One process's results from those of all ranks: rows in turn, classes one after another, the rest equal everywhere."""
    if isinstance(parts[0], dict):
        if 'rows' in parts[0]:
            return torch.stack([part['rows'] for part in parts], 1).flatten(0, 1)
        return torch.cat([part['classes'] for part in parts])
    for part in parts:
        torch.testing.assert_close(part, parts[0], rtol=0, atol=0, equal_nan=True)
    return parts[0]


@pytest.mark.slow
@pytest.mark.parametrize('case', CASES)
def test_steps_are_those_of_one_process(case, shared_classes):
    arguments, dtype = CASES[case]
    alone = {classes: sharded_cases.run(arguments, dtype, classes) for classes in set(CLASSES.values())}
    tolerance = 1e-9 if dtype is torch.float64 else 1e-5
    for world, ranks in shared_classes.items():
        found, expected = [rank['steps'][case] for rank in ranks], alone[CLASSES[world]]
        assert found[0].keys() == expected.keys()
        for name in expected:
            actual, reference = whole([rank[name] for rank in found]), whole([expected[name]])
            largest = float(reference.abs().nan_to_num().max()) if reference.numel() else 0.
            torch.testing.assert_close(actual, reference, rtol=0, atol=tolerance * max(largest, 1.), equal_nan=True,
                                       msg=lambda m, name=name, world=world: f'{name} of {world} ranks: {m}')


@pytest.mark.slow
@pytest.mark.parametrize('case', IN_DDP)
def test_backbone_and_what_a_loss_learns_under_ddp_are_those_of_one_process(case, shared_classes):
    for world in (1, 2, 3):
        expected = sharded_cases.train(CASES[case][0], CLASSES[world])
        for rank in shared_classes[world]:
            torch.testing.assert_close(rank['trainings'][case], expected, rtol=1e-9, atol=1e-11)


@pytest.mark.slow
@pytest.mark.parametrize('error', sharded_errors.ERRORS, ids=lambda error: error.__name__)
def test_what_is_wrong_on_one_rank_is_said_on_all(error, shared_classes):
    for rank in shared_classes[2]:
        with pytest.raises(ValueError, match=sharded_errors.ERRORS[error]):
            raise ValueError(rank['told'][error.__name__])
    first, second = (rank['told']['afterwards'] for rank in shared_classes[2])
    assert first == second


@pytest.mark.slow
def test_a_whole_state_dict_is_loaded_row_by_row_and_shards_are_in_none(shared_classes):
    for world, ranks in shared_classes.items():
        for rank, result in enumerate(r['loaded'] for r in ranks):
            assert result == dict(equal=True, problems=[], names=['iteration'], classes=class_range(7, rank, world))


def test_ranges_are_those_of_torch_chunk():
    for classes in range(1, 14):
        for world in range(1, 6):
            chunks = torch.arange(classes).chunk(world)
            ranges = [range(*class_range(classes, rank, world)) for rank in range(world)]
            assert [list(r) for r in ranges] == [chunk.tolist() for chunk in chunks] + [[]] * (world - len(chunks))


def test_prototypes_of_a_range_are_drawn_alike_and_alone(monkeypatch):
    classes = 2 * INIT_BLOCK + 10
    everything, drawn = draw_prototypes(0, classes, 2, 3, 1., seed=1), []
    randn = torch.randn
    monkeypatch.setattr(torch, 'randn', lambda *size, **kwargs: drawn.append(size) or randn(*size, **kwargs))
    for start, stop, blocks in [(0, 7, 1), (INIT_BLOCK - 1, INIT_BLOCK + 1, 2), (INIT_BLOCK, classes, 2), (classes, classes, 0)]:
        drawn.clear()
        assert torch.equal(draw_prototypes(start, stop, 2, 3, 1., seed=1), everything[2 * start:2 * stop])
        assert drawn == [(INIT_BLOCK * 2, 3)] * blocks


def recognizer(**head):
    return MODELS.build(dict(
        type='FaceRecognizer', backbone=dict(type='MobileFaceNet', width=.125, out_channels=16),
        neck=dict(type='GDCNeck', in_channels=16, feat_size=2, out_channels=8),
        head=dict(dict(type='FaceClsHead', num_classes=5, in_channels=8, loss=dict(type='SoftmaxLoss')), **head)))


def test_shards_are_found_and_named_under_any_wrapper():
    model = torch.nn.ModuleDict(dict(module=recognizer(num_centers=3, sharded=True)))
    assert {name: spec for name, (_, spec) in sharded_tensors(model).items()} == {
        'module.head.weight': ShardSpec(15, 0, 15), 'module.head.bias': ShardSpec(5, 0, 5)}
    assert not sharded_tensors(recognizer())
    vpl = recognizer(type='VPLHead', sharded=True, loss=dict(type='UniFaceLoss'))
    assert set(vpl.head.shard_spec) == {'weight', 'memory', 'seen'}
    assert vpl._ddp_params_and_buffers_to_ignore == ['head.weight', 'head.memory', 'head.seen', 'head.loss_module.bias']


def test_without_process_group_there_is_one_shard_that_is_not_in_the_state_dict():
    head = recognizer(sharded=True).head
    assert head.classes == (0, 5) and not head.state_dict()
    assert torch.equal(head.weight, recognizer().head.weight)
    assert head.loss(torch.ones(2, 8), FaceDataSample(gt_label=torch.arange(2)))['loss'] > 0
    with pytest.raises(ValueError, match=r'label 5 of row 1 in the batch is outside \[0, 5\)'):
        head.compute_loss(torch.ones(2, 8), torch.tensor([0, 5]))


def test_a_state_dict_of_other_classes_is_refused_and_one_without_prototypes_is_not():
    model = recognizer(sharded=True)
    state = recognizer(num_classes=6).state_dict()
    with pytest.raises(RuntimeError, match=r'head.weight has 6 rows where the whole of this sharded tensor has 5'):
        model.load_state_dict(state)
    model.load_state_dict({name: value for name, value in state.items() if not name.startswith('head.')})
