"""A pass over all images of a training set, as converters make it: in parallel, checked, and resumed where it was interrupted."""
import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mmface.utils.ordered_map import ordered_map
from mmface.utils.progress import Progress

from ...decode import decode_image
from ..errors import DataFormatError
from ..reader import Records

_TASK = 64  # images that a thread takes at a time
_JOURNAL = 'progress.json'
SKIPPED = 'skipped.tsv'


class Conversion:
    """Hands over image after image, each of which decodes; those that do not end the pass, or are skipped and listed up to a share.

    Args:
        records: the set.
        order: int64 ``[N]``, the order that its images are taken in.
        folder: the unfinished result, which also keeps the journal: how far the pass is.
        max_skipped: the share of images that may be broken.
        workers: threads that read and decode.
        interval: images after which the journal is written.
    """

    def __init__(self, records: Records, order: np.ndarray, folder: Path, max_skipped: float = 0., workers: int | None = None,
                 interval: int = 8192) -> None:
        self.records, self.order, self.folder = records, order, folder
        self.allowed, self.workers, self.interval = int(max_skipped * len(records)), workers or os.cpu_count() or 1, interval
        journal = folder / _JOURNAL
        self.state: dict[str, Any] = json.loads(journal.read_text()) if journal.is_file() else dict(done=0, skipped=[], kept=None)

    @property
    def skipped(self) -> Sequence[int]:
        """The ranks in ``order`` of the images that were left out."""
        return [rank for rank, _ in self.state['skipped']]

    def run(self, take: Callable[[int, bytes], Any], put: Callable[[Any], None], save: Callable[[], Any],
            size: tuple[int, int] | None = None) -> None:
        """Goes on from where the journal ends.

        Args:
            take: called in threads with the index of an image and its bytes; what it returns goes to ``put``.
            put: called in order, in this thread.
            save: brings what was put to the disk and returns what has to be known to go on from there: ``state['kept']`` at the next start.
            size: height and width that all images must have.

        Raises:
            DataFormatError: for a broken image, or one too many.
        """
        done = self.state['done']
        tasks = (range(at, min(at + _TASK, len(self.order))) for at in range(done, len(self.order), _TASK))
        with Progress(f'{self.records.path.name} to {self.folder.name.removesuffix(".partial").lstrip(".")}', len(self.order)) as progress:
            progress.skip(done)
            saved = done
            for ranks, results in ordered_map(lambda ranks: (ranks, self._take(ranks, take, size)), tasks, self.workers):
                for rank, result in zip(ranks, results, strict=True):
                    if isinstance(result, DataFormatError):
                        self._skip(rank, result)
                    else:
                        put(result)
                self.state['done'] = ranks.stop
                progress.advance(len(ranks))
                if ranks.stop - saved >= self.interval:
                    saved = ranks.stop
                    self._write_journal(save())
        self._write_journal(save())

    def finish(self) -> None:
        """Lists what was skipped and removes the journal."""
        if self.state['skipped']:
            lines = [f'{self.records.where(int(self.order[rank]))}\t{reason}\n' for rank, reason in self.state['skipped']]
            (self.folder / SKIPPED).write_text(''.join(lines), encoding='utf-8', errors='surrogateescape')
        (self.folder / _JOURNAL).unlink()

    def _take(self, ranks: range, take: Callable[[int, bytes], Any], size: tuple[int, int] | None) -> list:
        results = []
        for rank in ranks:
            at = int(self.order[rank])
            try:
                data = bytes(self.records.read(at))
                check_image(self.records, at, data, size)
            except DataFormatError as fault:
                results.append(fault)
            else:
                results.append(take(at, data))
        return results

    def _skip(self, rank: int, fault: DataFormatError) -> None:
        if len(self.state['skipped']) == self.allowed:
            if self.allowed:
                hint = f'{self.allowed} images were skipped before it, more are not allowed'
                fault = DataFormatError(fault.path, fault.where, fault.value, hint)
            raise fault
        self.state['skipped'].append([rank, fault.value])

    def _write_journal(self, kept: Any) -> None:
        self.state['kept'] = kept
        temporary = self.folder / f'{_JOURNAL}.tmp'
        with temporary.open('w') as file:
            json.dump(self.state, file)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(self.folder / _JOURNAL)


def check_image(records: Records, at: int, data: bytes, size: tuple[int, int] | None) -> tuple[int, int]:
    """Decodes an image and returns its height and width.

    Raises:
        DataFormatError: where it does not decode, or has another size.
    """
    try:
        height, width = decode_image(data).shape[:2]
    except ValueError as error:
        raise DataFormatError(records.path, records.where(at), str(error), 'replace or remove it') from None
    if size not in (None, (height, width)):
        hint = f'others have {size[0]} x {size[1]}: align them all'
        raise DataFormatError(records.path, records.where(at), f'{height} x {width} pixels', hint)
    return height, width
