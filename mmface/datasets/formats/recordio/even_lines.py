"""Numbers in lines that are all equally wide, eight digits at a time."""
import numpy as np

_ZEROS = 0x3030303030303030  # eight times '0'
_UPPER = 0xf0f0f0f0f0f0f0f0
_JOIN = ((2561, 8, 0x00ff00ff00ff00ff), (6553601, 16, 0x0000ffff0000ffff), (42949672960001, 32, 0xffffffff))


def parse_even_lines(block: bytes) -> tuple[np.ndarray, np.ndarray] | None:
    """The two columns of whole lines ``number TAB number LF``, int64 ``[N]``, if every line has the widths of the first; else None.

    An index in order is made of long runs of such lines. They take a third of the time of NumPy's parser.
    """
    first = block[:block.find(b'\n') + 1]
    width, tab = len(first), first.find(b'\t')
    if not 0 < tab <= 18 or not 0 < width - tab - 2 <= 18 or len(block) % width:
        return None
    lines = np.frombuffer(block, np.uint8).reshape(-1, width)
    if (lines[:, tab] != ord('\t')).any() or (lines[:, -1] != ord('\n')).any():
        return None
    padded = block + bytes(8)  # the last words reach beyond the end
    left = _column(padded, len(lines), width, 0, tab)
    right = _column(padded, len(lines), width, tab + 1, width - 1)
    return None if left is None or right is None else (left, right)


def _column(block: bytes, n: int, width: int, begin: int, end: int) -> np.ndarray | None:
    """The numbers between two positions of each line; None where there is anything but digits."""
    total = np.zeros(n, np.uint64)
    while begin < end:
        digits = (end - begin) % 8 or 8
        word = np.ndarray((n, ), '<u8', block, begin, (width, )).astype(np.uint64)
        word <<= np.uint64(64 - 8 * digits)
        word |= np.uint64(_ZEROS >> 8 * digits if digits < 8 else 0)
        upper = word & np.uint64(_UPPER)
        upper |= (word + np.uint64(0x0606060606060606) & np.uint64(_UPPER)) >> np.uint64(4)
        if (upper != np.uint64(0x3333333333333333)).any():  # a digit begins with the bits of a 3, and so does what is 6 more
            return None
        word &= np.uint64(0x0f0f0f0f0f0f0f0f)
        for factor, shift, mask in _JOIN:  # neighbours become numbers of 2, of 4 and of 8 digits
            word *= np.uint64(factor)
            word >>= np.uint64(shift)
            word &= np.uint64(mask)
        total *= np.uint64(10**digits)
        total += word
        begin += digits
    return total.view(np.int64)
