"""Timing side by side."""
from mmface.utils.take_turns import take_turns


def test_each_is_called_as_often_some_times_in_a_row_and_who_goes_first_changes():
    called = []
    seconds = take_turns([lambda: called.append(0), lambda: called.append(1)], 4, turn=2)
    assert called == [1] * 3 + [0] * 6 + [1] * 3  # of three calls in a row the first is not timed
    assert len(seconds) == 2
