"""Writes any training set as tar shards, see :class:`~mmface.datasets.formats.tar_shards.records.TarShards`."""
import io
import os
import tarfile
from pathlib import Path

import numpy as np

from ..common.class_names import write_class_names
from ..reader import Records
from ..writing.conversion import Conversion
from ..writing.image_suffix import image_suffix
from ..writing.partial_folder import PartialFolder, describe_records, reopen


def write_shards(records: Records, path: Path, shard_size: int = 10_000, name: str = 'train', max_skipped: float = 0.,
                 workers: int | None = None, interval: int = 8192) -> int:
    """Writes ``train-000000.tar`` ...: each image as it is stored, called after its content and its place in the set, and its label.

    ``000000012.jpg`` is followed by ``000000012.cls``. The images stay in their order; a loader that reads shards from front to back
    wants them shuffled beforehand. Where classes have names, ``classes.tsv`` has them: label TAB name. Every image is decoded once to make
    sure that it can be. An interrupted run is resumed by calling this again.

    Args:
        records: the set.
        path: the folder to make; must not exist.
        shard_size: images a shard.
        name: what the shards are called.
        max_skipped: the share of images that may be broken; ``skipped.tsv`` lists them.
        workers: threads; by default as many as there are processors.
        interval: images after which what is written becomes safe.

    Returns:
        How many images were skipped.

    Raises:
        FileExistsError: where ``path`` is taken.
        DataFormatError: for a broken image, or one too many.
        ValueError: for a shard without room.
    """
    if shard_size < 1:
        raise ValueError(f'a shard needs room for one image or more, got {shard_size}')
    with PartialFolder(path, dict(describe_records(records), format='webdataset', shard_size=shard_size, name=name)) as folder:
        conversion = Conversion(records, np.arange(len(records)), folder, max_skipped, workers, interval)
        stream = _ShardStream(folder / name, shard_size, *(conversion.state['kept'] or (0, 0)))
        try:
            conversion.run(lambda at, data: (f'{at:09d}', image_suffix(data), data, int(records.labels[at])), stream.write, stream.sync)
        finally:
            stream.close()
        if records.classes is not None:
            write_class_names(folder, records.classes)
        conversion.finish()
    return len(conversion.skipped)


class _ShardStream:
    """Shards one after the other, which goes on from any place.

    Args:
        start: the shards' names up to the number.
        shard_size: samples a shard.
        written: samples that are safe.
        offset: the bytes that they take in the last shard that has one.
    """

    def __init__(self, start: Path, shard_size: int, written: int, offset: int) -> None:
        self.start, self.shard_size, self.written = start, shard_size, written
        self._open(max(written - 1, 0) // shard_size, offset)

    def write(self, sample: tuple[str, str, bytes, int]) -> None:
        """Key, suffix, image and label."""
        key, suffix, image, label = sample
        if self.written and self.written % self.shard_size == 0:
            self.close()
            self._open(self.written // self.shard_size, 0)
        for name, content in ((suffix, image), ('cls', b'%d' % label)):
            member = tarfile.TarInfo(f'{key}.{name}')
            member.size, member.mode = len(content), 0o444
            self.tar.addfile(member, io.BytesIO(content))
        self.written += 1

    def sync(self) -> tuple[int, int]:
        """Makes what was written safe; returns what the next stream has to know."""
        self.file.flush()
        os.fsync(self.file.fileno())
        return self.written, self.file.tell()

    def close(self) -> None:
        """Ends the shard."""
        if not self.file.closed:
            self.tar.close()
            self.sync()
            self.file.close()

    def _open(self, number: int, offset: int) -> None:
        self.file = reopen(self.start.with_name(f'{self.start.name}-{number:06d}.tar'), offset)
        self.tar = tarfile.open(fileobj=self.file, mode='w:', format=tarfile.USTAR_FORMAT)  # noqa: SIM115 (closed with the shard)
