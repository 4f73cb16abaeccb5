"""How far a long pass is, is said rarely and rightly."""
import io

import pytest

from mmface.utils import progress as module
from mmface.utils.progress import Progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def clock(monkeypatch):
    """A clock that is turned by hand: ``clock[0]`` seconds."""
    now = [0.]
    monkeypatch.setattr(module.time, 'monotonic', lambda: now[0])
    return now


def test_short_work_says_nothing(clock):
    out = io.StringIO()
    with Progress('labels', 100, out=out) as progress:
        clock[0] = 1.9
        progress.advance(100)
    assert out.getvalue() == ''


def test_in_a_log_there_is_a_line_every_half_minute_and_at_the_end(clock):
    out = io.StringIO()
    with Progress('labels of a.rec', 10_000, 'records', out) as progress:
        progress.skip(4_000)
        for at in range(1, 61):
            clock[0] = at
            progress.advance(100)
    assert out.getvalue().splitlines() == [
        'labels of a.rec: 4,200 of 10,000 records, 100/s, 0:00:58 left',
        'labels of a.rec: 7,200 of 10,000 records, 100/s, 0:00:28 left',
        'labels of a.rec: 10,000 of 10,000 records, 100/s, 0:00:00 left',
    ]


def test_on_a_terminal_one_line_renews_itself(clock):
    out = Terminal()
    with Progress('files', None, out=out) as progress:
        for at in range(1, 4):
            clock[0] = at
            progress.advance()
    assert out.getvalue() == '\r\x1b[Kfiles: 2 images, 1/s\r\x1b[Kfiles: 3 images, 1/s\r\x1b[Kfiles: 3 images, 1/s\n'


def test_a_failure_leaves_the_last_line_as_it_is(clock):
    out = io.StringIO()

    def fail():
        with Progress('labels', 100, out=out) as progress:
            clock[0] = 3
            progress.advance(30)
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert out.getvalue() == 'labels: 30 of 100 images, 10/s, 0:00:07 left\n'
