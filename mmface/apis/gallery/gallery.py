"""Enrol people, look for one, forget one."""
from collections.abc import Sequence
from datetime import datetime, timezone
from pathlib import Path

import numpy as np

from .gallery_file import GalleryError, GalleryRows, locked, read_rows, write_rows
from .match import Match, unit_rows, utc

_BLOCK = 1 << 16  # rows at a time


class Gallery:
    """The people in one file.

    It holds embeddings, names, and two dates a photo; no images. Every change replaces the file in one step under a lock: a process that is
    killed in the middle leaves the gallery as it was. Embeddings of two networks cannot be compared, so it is of one network only.

    Args:
        path: the file; it need not exist yet.
        model_id: of the network that is in use, see :func:`mmface.export.model_id`; None where nothing is to be compared.

    Raises:
        GalleryError: not a gallery, or made with another network.
    """

    def __init__(self, path: str | Path, model_id: str | None = None) -> None:
        self.path, self.model_id = Path(path), model_id
        if self.path.exists():
            self.rows()

    def enroll(self, people: Sequence[str], embeddings: np.ndarray, expires: datetime | None = None, now: datetime | None = None) -> None:
        """Adds N photos, all or none. One that its person has there already is enrolled anew, with its new dates.

        Args:
            people: N names; one that is there already gets a further photo.
            embeddings: raw [N, D].
            expires: when to stop finding them, with a time zone; None for never.
            now: the time of enrolment. Default: that of the clock.

        Raises:
            ValueError: embeddings of another shape, not finite or of length zero; an empty name; an expiry that has passed.
            GalleryError: see :class:`Gallery`.
        """
        if self.model_id is None:
            raise ValueError(f'{self.path}: say which network made the embeddings: model_id')
        moment = utc(now or datetime.now(timezone.utc))
        until = np.datetime64('NaT') if expires is None else utc(expires)
        if until <= moment:
            raise ValueError(f'the expiry {until} has passed')
        if not all(name.strip() for name in people):
            raise ValueError('a person needs a name that is not empty')
        unit = unit_rows(embeddings)
        if len(unit) != len(people):
            raise ValueError(f'{len(people)} names for {len(unit)} embeddings')
        added = GalleryRows(self.model_id, unit, np.array(people, np.str_), np.full(len(unit), moment, 'datetime64[s]'),
                            np.full(len(unit), until, 'datetime64[s]'))  # yapf: disable
        with locked(self.path):
            rows = self._read() if self.path.exists() else GalleryRows.none(self.model_id, unit.shape[1])
            if rows.embedding.shape[1] != unit.shape[1]:
                raise ValueError(f'{self.path}: holds embeddings of {rows.embedding.shape[1]} numbers, got {unit.shape[1]}')
            write_rows(self.path, _without_repeats(rows.join(added)))

    def search(self, embeddings: np.ndarray, top: int = 5, now: datetime | None = None) -> list[list[Match]]:
        """For each of Q raw embeddings [Q, D] the ``top`` most similar people, best first; all comparisons are made, none is guessed.

        People whose every photo has expired are not found. Of equal similarities the name decides.
        """
        rows = self.rows()
        rows = rows.take(~self._expired(rows, now))
        queries = unit_rows(embeddings)
        if rows.embedding.shape[1] != queries.shape[1]:
            raise ValueError(f'{self.path}: holds embeddings of {rows.embedding.shape[1]} numbers, got {queries.shape[1]}')
        names, person = np.unique(rows.person, return_inverse=True)
        best = np.full((len(names), len(queries)), -np.inf)
        for start in range(0, len(rows), _BLOCK):
            block = slice(start, start + _BLOCK)
            np.maximum.at(best, person[block], (rows.embedding[block].astype(np.float64) @ queries.astype(np.float64).T))
        order = np.argsort(-best, axis=0, kind='stable')[:top]
        return [[Match(str(names[row]), float(np.clip(best[row, at], -1, 1))) for row in order[:, at]] for at in range(len(queries))]

    def remove(self, people: Sequence[str]) -> int:
        """Forgets people, all or none: their embeddings are overwritten on disk. Returns how many photos that were.

        Raises:
            GalleryError: somebody is not there; names them.
        """
        with locked(self.path):
            rows = self._read()
            unknown = sorted(set(people) - set(rows.person.tolist()))
            if unknown:
                raise GalleryError(f'{self.path}: not in the gallery: {", ".join(unknown)}; nobody was removed')
            gone = np.isin(rows.person, np.array(list(people), np.str_))
            write_rows(self.path, rows.take(~gone))
        return int(gone.sum())

    def remove_expired(self, now: datetime | None = None) -> int:
        """Forgets every photo that has expired. Returns how many."""
        with locked(self.path):
            rows = self._read()
            gone = self._expired(rows, now)
            write_rows(self.path, rows.take(~gone))
        return int(gone.sum())

    def info(self, now: datetime | None = None) -> dict:
        """``model_id, dim, photos, people``: name -> ``photos, enrolled`` (last), ``expires`` (last; None for never), ``expired``."""
        rows = self.rows()
        expired = self._expired(rows, now)
        people = {}
        for name in np.unique(rows.person).tolist():
            of = rows.person == name
            never = np.isnat(rows.expires[of]).any()
            people[name] = dict(photos=int(of.sum()), enrolled=f'{rows.enrolled[of].max()}Z',
                                expires=None if never else f'{rows.expires[of].max()}Z', expired=bool(expired[of].all()))  # yapf: disable
        return dict(model_id=rows.model_id, dim=rows.embedding.shape[1], photos=len(rows), people=people)

    def rows(self) -> GalleryRows:
        """All that the file holds, read while nobody writes: a file that is replaced is overwritten."""
        if not self.path.is_file():
            return read_rows(self.path)  # which says so, and leaves no lock beside what is not there
        with locked(self.path):
            return self._read()

    def _read(self) -> GalleryRows:
        rows = read_rows(self.path)
        if self.model_id is not None and self.model_id != rows.model_id:
            raise GalleryError(f'{self.path}: its embeddings are of the network {rows.model_id[:12]}..., this one is '
                               f'{self.model_id[:12]}...: they cannot be compared. Use that network, or enrol into a new file')
        return rows

    @staticmethod
    def _expired(rows: GalleryRows, now: datetime | None) -> np.ndarray:
        return rows.expires <= utc(now or datetime.now(timezone.utc))  # NaT is never <=


def _without_repeats(rows: GalleryRows) -> GalleryRows:
    """Of photos of one person with the same embedding the last."""
    photos = zip(rows.person.tolist(), map(bytes, rows.embedding), strict=True)
    last = {photo: at for at, photo in enumerate(photos)}
    return rows.take(np.sort(list(last.values())))
