"""IJB-B and IJB-C as InsightFace releases them: loose crops with landmarks, and lists of templates, pairs, galleries and probes.

Whitelam and others, IARPA Janus Benchmark-B, CVPRW 2017; Maze and others, IARPA Janus Benchmark - C, ICB 2018; lists and crops of
https://github.com/deepinsight/insightface, recognition/_evaluation_/ijb.
"""
import warnings
from pathlib import Path

import numpy as np

from mmface.structures import TemplateList, TemplateSet

from .common.columns import line_of, read_columns
from .common.image_files import ImageFiles
from .common.template_files import check_galleries, read_template_list, read_template_pairs
from .errors import DataFormatError, DataFormatWarning
from .table import EVALS

_OCCURRENCES = '_face_tid_mid.txt'
_POINTS = [(axis + str(point), float) for point in range(1, 6) for axis in 'xy']
_BOX = [(side, float) for side in ('left', 'top', 'right', 'bottom')]
_SHOWN = 3


@EVALS.register('ijb')
class IJB(ImageFiles):
    """A folder with ``meta/ijbc_face_tid_mid.txt`` and the other lists, and the crops in ``loose_crop/``; IJB-B's begin with ``ijbb_``.

    Line i of the lists is image and row i of the set. The crops are not aligned: ``set.landmarks`` are for ``AlignFace``. Galleries are
    called after their files, ``G1`` and ``G2`` (IJB-B: ``S1``, ``S2``), the probes ``mixed``; both are empty without the ``1N`` lists.

    Args:
        path: the folder, or its ``meta``.
        images: the folder of the crops; by default ``loose_crop``.
        name: what results are called after; by default as the lists begin, ``ijbc``.
        points: the list of landmarks and scores: ``'name_5pts_score'``, or another detector's, ``'name_5pts_score_retina'``,
            ``'name_box_score_5pts'`` (whatever has "box" in its name has the box and the score before the points).
        lists_only: does not look whether the images are there.

    Raises:
        DataFormatError: naming the line, for a broken list, lists that are not parallel, a template of a pair without image, or a person in
            both galleries; for missing images, with their number and the first few.

    Warns:
        DataFormatWarning: where there are no images; for landmarks of -1 (no face was found), negative scores, templates whose scores are
            all 0, repeated pairs, and templates of galleries or probes without image.
    """

    def __init__(self,
                 path: Path,
                 images: str | Path | None = None,
                 name: str | None = None,
                 points: str = 'name_5pts_score',
                 lists_only: bool = False) -> None:
        self.meta = path / 'meta' if (path / 'meta').is_dir() else path
        self.prefix = self._prefix()
        crops = Path(images) if images is not None else self.meta.parent / 'loose_crop'
        rows = read_columns(self.meta / f'{self.prefix}{_OCCURRENCES}', [('image', str), ('template', int), ('media', int)])
        super().__init__(crops, rows['image'].tolist())
        landmarks, scores = self._faces(points)
        known = self._check_weights(rows['template'], scores)
        pairs, same = read_template_pairs(self.meta / f'{self.prefix}_template_pair_label.txt', known)
        galleries, probes = self._lists('gallery', known), self._lists('probe', known)
        check_galleries(self.meta, galleries)
        if not lists_only:
            self.require(images is not None or crops.is_dir())
        self.set = TemplateSet(
            name=name or self.prefix, paths=[f'{crops}/{file}' for file in self.files], template=rows['template'], media=rows['media'],
            det_score=scores, landmarks=landmarks, pairs=pairs, same=same, galleries=galleries, probes=probes)

    @staticmethod
    def sniff(path: Path) -> bool:
        return path.is_dir() and any(next(folder.glob(f'*{_OCCURRENCES}'), None) for folder in (path, path / 'meta'))

    def _prefix(self) -> str:
        found = sorted(file.name.removesuffix(_OCCURRENCES) for file in self.meta.glob(f'*{_OCCURRENCES}'))
        if len(found) != 1:
            raise DataFormatError(self.meta, value=f'{len(found)} lists *{_OCCURRENCES}', hint='expected one, as ijbc_face_tid_mid.txt')
        return found[0]

    def _faces(self, points: str) -> tuple[np.ndarray, np.ndarray]:
        """The landmarks [M, 5, 2] and scores [M] of one detector, checked to be of the same images in the same order."""
        path = self.meta / f'{self.prefix}_{points}.txt'
        if not path.is_file():
            path = self.meta / f'{points}.txt'
        score = [('score', float)]
        table = read_columns(path, [('image', str), *(_BOX + score + _POINTS if 'box' in points else _POINTS + score)])
        if len(table) != len(self):
            raise DataFormatError(path, value=f'{len(table)} rows', hint=f'{self.prefix}{_OCCURRENCES} has {len(self)}')
        other = np.flatnonzero(table['image'] != np.array(self.files, object))
        if other.size:
            row = int(other[0])
            raise DataFormatError(path, f'row {row + 1}', f'{self.files[row]} against {table["image"][row]}',
                                  f'its lines must be parallel to those of {self.prefix}{_OCCURRENCES}')
        landmarks = np.stack([table[name] for name, _ in _POINTS], 1).reshape(-1, 5, 2)
        for odd, value in (((landmarks == -1).any((1, 2)), 'landmarks of -1'), (table['score'] < 0, 'negative scores')):
            if odd.any():
                places = ', '.join(line_of(path, int(row)) for row in np.flatnonzero(odd)[:_SHOWN])
                hint = f'so in {odd.sum()} lines; no face was found there, and the crops cannot be aligned'
                warnings.warn(DataFormatWarning(path, places, value, hint), stacklevel=2)
        return landmarks, table['score']

    def _check_weights(self, template: np.ndarray, scores: np.ndarray) -> np.ndarray:
        """The ids of all templates, ascending; warns of those that weighting by the score leaves nothing of."""
        known, inverse = np.unique(template, return_inverse=True)
        void = known[np.bincount(inverse, np.abs(scores)) == 0]
        if void.size:
            warnings.warn(DataFormatWarning(self.meta, 'detector scores', f'template {void[0]} has weight 0: its norm would be 0',
                                            f'{void.size} of {len(known)} templates have'), stacklevel=2)
        return known

    def _lists(self, kind: str, known: np.ndarray) -> dict[str, TemplateList]:
        """The galleries or the probes by name."""
        start = f'{self.prefix}_1N_{kind}_'
        lists = {file.stem.removeprefix(start): read_template_list(file) for file in sorted(self.meta.glob(f'{start}*.csv'))}
        for name, listed in lists.items():
            absent = np.setdiff1d(listed.template, known)
            if absent.size:
                warnings.warn(DataFormatWarning(self.meta / f'{start}{name}.csv', value=f'template {absent[0]} has no image',
                                                hint=f'{absent.size} of {len(listed)} templates have none'), stacklevel=2)
        return lists
