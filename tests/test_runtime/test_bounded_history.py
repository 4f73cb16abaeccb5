"""A bounded history says what MMEngine's says, without growing."""
import numpy as np
import pytest
from mmengine.logging import HistoryBuffer

from mmface.runtime.bounded_history import BoundedHistory

VALUES = np.random.default_rng(0).normal(size=100).tolist()


@pytest.mark.parametrize('begin', [0, 1, 7, 8, 30])
@pytest.mark.parametrize('length', [1, 3, 8, 200])
def test_it_says_what_mmengine_s_says_after_every_entry(begin, length):
    counts = [1 + at % 3 for at in range(100)]
    first = VALUES[:begin][-length:], counts[:begin][-length:]
    ours, oracle = BoundedHistory(VALUES[:begin], counts[:begin], length), HistoryBuffer(*first, max_length=length)
    for value, count in zip(VALUES[begin:], counts[begin:], strict=True):
        ours.update(value, count)
        oracle.update(value, count)
        assert all(np.array_equal(a, b) for a, b in zip(ours.data, oracle.data, strict=True))
        for window in (1, 2, 1000):
            for name in ('mean', 'max', 'min'):
                assert ours.statistics(name, window) == oracle.statistics(name, window)
        assert ours.current() == oracle.current() == value


def test_its_memory_stays_as_it_is():
    history = BoundedHistory(max_length=10)
    memory = history._data
    for at in range(1000):
        history.update(at)
    assert history._data is memory
    assert history.data[0].tolist() == list(range(990, 1000))


def test_what_is_no_number_is_refused():
    with pytest.raises(TypeError, match="numbers, got '1' and 1"):
        BoundedHistory().update('1')
    with pytest.raises(ValueError, match='empty'):
        BoundedHistory().current()
