"""The fast parser of an index gives what Python's int() gives, or nothing."""
import numpy as np
import pytest

from mmface.datasets.formats.recordio.even_lines import parse_even_lines


@pytest.mark.parametrize('digits', [(1, 1), (1, 9), (7, 8), (8, 11), (9, 12), (16, 17), (18, 18)])
def test_every_width_of_numbers_is_read_exactly(digits):
    rng = np.random.default_rng(sum(digits))
    lines = [b'\t'.join(bytes(rng.integers(48, 58, size, np.uint8)) for size in digits) for _ in range(50)]
    lines += [b'\t'.join(digit * size for size in digits) for digit in (b'0', b'9')]
    found = parse_even_lines(b'\n'.join(lines) + b'\n')
    assert list(zip(*(column.tolist() for column in found), strict=True)) == [tuple(map(int, line.split())) for line in lines]


def test_no_byte_but_a_digit_passes_for_one():
    for at in (0, 1, 3, 12):
        for byte in set(range(256)) - set(b'0123456789'):
            block = bytearray(b'12\t1234567890\n34\t2345678901\n')
            block[at] = byte
            assert parse_even_lines(bytes(block)) is None, (at, byte)


@pytest.mark.parametrize('block', [
    b'', b'\n', b'1\t2', b'1\t\n', b'\t2\n', b'1 2\n', b'1\t2\r\n', b'1\t2\n10\t3\n', b'1\t2\n\n3\t4\n', b'12\t3\n1\t23\n', b'1\t2\t3\n',
    b'1\t2\n3\n\t4', b'1\t' + b'1' * 19 + b'\n', b'-1\t2\n'
])
def test_what_is_not_even_is_left_to_others(block):
    assert parse_even_lines(block) is None
