"""Rows of a tensor as they were, although they have been overwritten since."""
from collections.abc import Callable

from torch import Tensor


class _Change:
    """Some rows before they were overwritten, and the change after this one; empty while it lies ahead."""
    index: Tensor
    rows: Tensor
    next: '_Change | None' = None


class RowHistory:
    """Keeps what is overwritten in a tensor for as long as a reader of an earlier state is alive: a few rows, in place of a copy of all."""

    def __init__(self) -> None:
        self._ahead = _Change()

    def overwrite(self, tensor: Tensor, index: Tensor, rows: Tensor) -> None:
        """``tensor[index] = rows`` for an ``index`` int64 ``[n]``, distinct and rising."""
        change = self._ahead
        change.index, change.rows, change.next = index, tensor[index], _Change()
        self._ahead = change.next
        tensor[index] = rows

    def reader(self, tensor: Tensor) -> Callable[[Tensor], Tensor]:
        """A function from an index int64 ``[n]`` to these rows as they are now, whenever it is called."""
        first = self._ahead

        def read(index: Tensor) -> Tensor:
            rows, change, changes = tensor[index], first, []
            while change.next is not None:
                changes.append(change)
                change = change.next
            for change in reversed(changes):
                row, place = (index.unsqueeze(1) == change.index).nonzero(as_tuple=True)
                rows[row] = change.rows[place]
            return rows

        return read
