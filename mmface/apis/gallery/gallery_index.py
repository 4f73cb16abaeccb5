"""A gallery in memory, for a program that searches it again and again."""
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mmface.utils.dependency import require_extra

from .gallery_file import GalleryError
from .match import Match, unit_rows, utc

if TYPE_CHECKING:
    from .gallery import Gallery


_PHOTOS = 64  # to ask an index for at least: a graph misses less of what is nearest when it looks at more


class GalleryIndex:
    """Searches a gallery through `faiss <https://faiss.ai>`_ (extra ``faiss``): near neighbours without all comparisons.

    It lives in memory alone, so that what is removed from the gallery is left nowhere on disk, and follows the file: after a change the
    next search builds it anew. For a single search :meth:`Gallery.search` is faster, since it builds nothing; and it alone misses nobody.

    Args:
        gallery: what to search.
        kind: as faiss describes an index: ``'Flat'`` compares with all, ``'HNSW32'`` walks a graph of neighbours.

    Raises:
        ImportError: faiss is not installed.
        ValueError: faiss knows no such index.
        GalleryError: as :class:`Gallery`.
    """

    def __init__(self, gallery: 'Gallery', kind: str = 'HNSW32') -> None:
        require_extra('faiss', 'a gallery index')
        self.gallery, self.kind = gallery, kind
        self._seen: tuple[int, ...] = ()
        self._follow()

    def search(self, embeddings: np.ndarray, top: int = 5, now: datetime | None = None) -> list[list[Match]]:
        """As :meth:`Gallery.search`, but for whom the index does not come upon; similarities are exact."""
        self._follow()
        queries = unit_rows(embeddings)
        if self.rows.embedding.shape[1] != queries.shape[1]:
            raise ValueError(f'{self.gallery.path}: holds embeddings of {self.rows.embedding.shape[1]} numbers, got {queries.shape[1]}')
        alive = ~(self.rows.expires <= utc(now or datetime.now(timezone.utc)))
        people = min(top, int(np.count_nonzero(np.bincount(self._person[alive]))))
        return [self._nearest(query, people, alive) for query in queries]

    def _nearest(self, query: np.ndarray, people: int, alive: np.ndarray) -> list[Match]:
        """Asks for more photos until they are of ``people`` people."""
        photos, best = max(people, _PHOTOS), dict[str, float]()
        while len(best) < people:
            found = self.index.search(query[None], min(photos, len(self.rows)))[1][0]
            found = found[found >= 0]
            found = found[alive[found]]
            cosines = self.rows.embedding[found].astype(np.float64) @ query.astype(np.float64)
            best = {}
            for name, cosine in zip(self.rows.person[found].tolist(), cosines.tolist(), strict=True):
                best[name] = max(cosine, best.get(name, -np.inf))
            if photos >= len(self.rows):
                break
            photos *= 4
        ranked = sorted(best.items(), key=lambda item: (-item[1], item[0]))[:people]
        return [Match(name, float(np.clip(cosine, -1, 1))) for name, cosine in ranked]

    def _follow(self) -> None:
        """Builds the index, where the file is another than the one it was built from."""
        state = _state(self.gallery.path)
        if state == self._seen:
            return
        import faiss
        self.rows = self.gallery.rows()
        try:
            index: Any = faiss.index_factory(self.rows.embedding.shape[1], self.kind, faiss.METRIC_INNER_PRODUCT)
        except RuntimeError as error:
            raise ValueError(f'faiss knows no index {self.kind!r}; for example Flat or HNSW32') from error
        if not index.is_trained:
            index.train(self.rows.embedding)
        index.add(self.rows.embedding)
        self._person = np.unique(self.rows.person, return_inverse=True)[1]
        self.index, self._seen = index, state


def _state(path: Path) -> tuple[int, ...]:
    try:
        stat = path.stat()
    except FileNotFoundError:
        raise GalleryError(f'{path}: there is no such gallery; "enroll" makes one') from None
    return stat.st_ino, stat.st_mtime_ns, stat.st_size
