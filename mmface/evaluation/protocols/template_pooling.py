"""From the embeddings of images to one vector a template: the part in which the published IJB numbers differ."""
import numpy as np

from mmface.functional.embedding_rows import EmbeddingRows
from mmface.functional.template_pairs import template_rows
from mmface.functional.templates import TemplateGroups, group_templates, pool_templates
from mmface.structures import TemplateSet

#: What the papers' code does, as arguments of :class:`TemplatePooling`.
POOLING_PRESETS: dict[str, dict] = dict(
    insightface=dict(keep_norm=True, use_det_score=True, flip='add', pooling='media'),
    adaface=dict(keep_norm=True, use_det_score=False, flip='add', pooling='media'),
    cvlface=dict(keep_norm=False, use_det_score=True, flip='add', pooling='media'),
    magface=dict(keep_norm=True, use_det_score=False, flip=None, pooling='unit_media'))

POOLINGS = ('media', 'unit_media', 'images')


class Templates:
    """T templates that have images.

    Attributes:
        ids: int64 [T], rising.
        unit: [T, D], rows of length 1 (float64, or float32 where that is the precision).
    """

    def __init__(self, ids: np.ndarray, unit: np.ndarray) -> None:
        self.ids, self.unit = ids, unit

    def __len__(self) -> int:
        return len(self.ids)

    def rows(self, ids: np.ndarray) -> np.ndarray:
        """The rows of ids, -1 for templates without image."""
        return template_rows(self.ids, ids)


class TemplatePooling:
    """The vector of a template: a sum of its images' vectors, brought to length 1.

    The eight published ways are those of ``keep_norm``, ``use_det_score`` and ``flip``: N, D and F of InsightFace's ``eval_ijbc.py``
    (https://github.com/deepinsight/insightface, recognition/_evaluation_/ijb). :data:`POOLING_PRESETS` has those behind published numbers.
    (InsightFace's ``ijb_evals.py`` has the switch for the norm the wrong way round: its N0 is N1.)

    Args:
        keep_norm: whether an image counts by the length of its embedding, or all alike.
        use_det_score: whether the vector of an image is multiplied by its detector score.
        flip: ``'add'``: the raw embedding of the mirrored image is added to that of the image first; None: it is not used.
        pooling: ``'media'``: the mean of each medium (a still, or the frames of a video), then the sum over media; ``'unit_media'``: these
            means are brought to length 1 before (MagFace); ``'images'``: the mean of all images (PFE; AdaFace on IJB-S).
        precision: of sums and of what follows, ``'float64'`` or ``'float32'``.

    Raises:
        ValueError: for an unknown value; lists the known ones.
    """

    def __init__(self,
                 keep_norm: bool = True,
                 use_det_score: bool = True,
                 flip: str | None = 'add',
                 pooling: str = 'media',
                 precision: str = 'float64') -> None:
        known = dict(keep_norm=(True, False), use_det_score=(True, False), flip=(None, 'add'), pooling=POOLINGS,
                     precision=('float64', 'float32'))
        self.switches = dict(keep_norm=keep_norm, use_det_score=use_det_score, flip=flip, pooling=pooling, precision=precision)
        for switch, value in self.switches.items():
            if value not in known[switch]:
                raise ValueError(f'{switch} is {value!r}, expected one of {", ".join(map(repr, known[switch]))}')
        self.keep_norm, self.use_det_score, self.flip, self.pooling, self.precision = keep_norm, use_det_score, flip, pooling, precision

    def __call__(self, template_set: TemplateSet, embeddings: np.ndarray, mirrored: np.ndarray | None = None) -> Templates:
        """Pools raw embeddings [M, D] in the order of ``template_set.paths``.

        Raises:
            ValueError: what :class:`~mmface.functional.embedding_rows.EmbeddingRows` refuses; a set without the detector scores that are
                asked for; a template whose scores are all 0, or whose images cancel out; names it.
        """
        rows = EmbeddingRows(embeddings, template_set.paths, mirrored, self.flip)
        image = np.arange(len(template_set.paths)) if template_set.image is None else template_set.image
        groups = group_templates(template_set.template, template_set.media, image)
        weight = self._weights(template_set, groups)
        if not self.keep_norm:
            weight /= rows.norm[image[groups.order]]
        if self.pooling != 'images':
            weight /= groups.media_size
        pooled = pool_templates(rows.read, image, groups, weight, self.pooling == 'unit_media', self.precision)
        norm = np.sqrt(np.einsum('td,td->t', pooled, pooled, dtype=np.float64))
        if not norm.all():
            lost = int(norm.argmin())
            raise ValueError(f'{template_set.name}: the images of template {groups.ids[lost]} add up to a vector of length 0')
        pooled /= norm[:, None].astype(self.precision)
        return Templates(groups.ids, pooled)

    def _weights(self, template_set: TemplateSet, groups: TemplateGroups) -> np.ndarray:
        """The weights of the sorted rows, float64 [R]."""
        if not self.use_det_score:
            return np.ones(len(groups.order))
        if template_set.det_score is None:
            raise ValueError(f'{template_set.name} has no detector scores: use_det_score=False')
        weight = template_set.det_score[groups.order]
        wrong = np.flatnonzero(~(np.isfinite(weight) & (weight >= 0)))
        if wrong.size:
            row = int(groups.order[wrong[0]])
            raise ValueError(f'{template_set.name}: the detector score of row {row} is {template_set.det_score[row]}; so are {wrong.size} '
                             f'of {len(weight)}')
        lost = groups.ids[np.add.reduceat(weight, groups.start[:-1]) == 0]
        if lost.size:
            raise ValueError(f'{template_set.name}: all detector scores of template {lost[0]} are 0, and so of {lost.size} of '
                             f'{len(groups.ids)}: they have no vector with use_det_score=True')
        return weight
