"""A rank fails: none waits for it for ever, and all say why. What would lose the head is refused before it starts."""
from concurrent.futures import ThreadPoolExecutor

import pytest
from mmengine.config import Config
from processes import run_ranks

from mmface.apis.train import train

BROKEN = 'ValueError: image 7 is broken'
TIMEOUT, PATIENCE = 6, 5  # the group's, and how long a failed rank stays for the others to hear
#: Fault, culprit, and what the ranks say.
FAULTS = [
    ('one_raises', 0, [BROKEN, f'RankFailedError: rank 0 stopped with {BROKEN}']),
    ('one_raises', 1, [f'RankFailedError: rank 1 stopped with {BROKEN}', BROKEN]),
    ('both_raise', 0, [BROKEN, BROKEN]),
    ('one_is_killed', 1, ['RankFailedError: another rank is gone or does not answer and left no word', None]),
    ('one_hangs', 1, ['RankFailedError: another rank is gone or does not answer and left no word', None]),
]


@pytest.fixture(scope='module')
def ends(tmp_path_factory):
    """Exit codes, and by rank what was said after how many seconds, for each fault."""

    def run(fault):
        folder = tmp_path_factory.mktemp(fault[0])
        codes, _ = run_ranks('failing_rank', 2, folder, *map(str, fault[:2]), TIMEOUT, timeout=100)
        notes = [folder / str(rank) for rank in range(2)]
        return codes, [note.read_text().split('\n', 1) if note.exists() else None for note in notes]

    with ThreadPoolExecutor(3) as pool:
        return list(pool.map(run, FAULTS))


@pytest.mark.parametrize('at', range(len(FAULTS)), ids=lambda at: '-'.join(map(str, FAULTS[at][:2])))
def test_a_rank_that_fails_ends_those_that_wait_for_it_within_the_timeout_and_they_say_why(at, ends):
    codes, notes = ends[at]
    for expected, note in zip(FAULTS[at][2], notes, strict=True):
        if expected is not None:
            assert note[1].startswith(expected)
            assert float(note[0]) < (PATIENCE if 'raise' in FAULTS[at][0] else TIMEOUT + PATIENCE + 5)
    assert 0 not in codes


@pytest.mark.parametrize(('changes', 'said'), [
    (dict(model_wrapper_cfg=dict(type='MMFullyShardedDataParallel')), 'flattens the parameters'),
    (dict(model_wrapper_cfg=dict(type='mmengine.MMSeparateDistributedDataParallel')), 'averages prototypes'),
    (dict(runner_type='FlexibleRunner', strategy=dict(type='FSDPStrategy')), 'FlexibleRunner'),
])
def test_ways_to_spread_a_model_that_would_lose_the_head_are_refused_with_the_reason(changes, said):
    config = Config(dict(model=dict(head=dict(type='FaceClsHead')), train_dataloader=dict(dataset=dict(type='FaceDataset')), **changes))
    with pytest.raises(ValueError, match=said) as refused:
        train(config)
    assert 'model.head.sharded=True' in str(refused.value)
