"""IJB-S with the lists that PFE and AdaFace read, and faces that the user has detected, aligned and named after their frames.

Kalka and others, IJB-S: IARPA Janus Surveillance Video Benchmark, BTAS 2018; readers in https://github.com/seasonSH/Probabilistic-Face-
Embeddings and https://github.com/mk-minchul/AdaFace (validation_IJB_S).
"""
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from mmface.structures import TemplateSet

from .common.columns import read_columns
from .common.image_files import ImageFiles
from .common.template_files import check_galleries
from .errors import DataFormatError
from .ijbs_lists import Source, Templates, all_videos, read_gallery, read_people, read_probes
from .table import EVALS

_METADATA, _IMAGE_LIST = 'cs6_metadata.csv', 'image_list.txt'
_PROBES = dict(surveillance_to_still='cs6_surveillance_to_single-booking_probe.csv',
               surveillance_to_surveillance='cs6_surveillance_to_surveillance_probe.csv', uav='cs6_uav_to_single-booking_probe.csv')
_KINDS = ('single', 'booking', 'surveillance')
_DETECTED = re.compile(r'([0-9]{1,18})/(?:(videos_[0-9]+)_[0-9]+|(img_[0-9]+))\.(?:jpe?g|png)', re.IGNORECASE)


@EVALS.register('ijbs')
class IJBS(ImageFiles):
    """A folder with ``cs6_metadata.csv``, the lists of probes, ``galleries/``, and detected faces in ``aligned/``.

    Faces are files ``<subject>/videos_<video>_<frame>.jpg`` and ``<subject>/img_<still>.jpg``. They come in the order of
    ``image_list.txt`` (paths relative to ``aligned/``, one a line) where the folder has it, else sorted.

    ``set.galleries``: ``single_g1``, ``single_g2``, ``booking_g1``, ``booking_g2`` hold a template a person, all stills listed for them;
    ``surveillance_g1``, ``surveillance_g2`` a template for every (person, video). ``g1`` and ``g2`` of a kind share nobody: closed-set
    search is over both together, open-set search over each.

    ``set.probes``: ``surveillance_to_still`` (searched in ``single`` and in ``booking``), ``surveillance_to_surveillance`` (in
    ``surveillance``) and ``uav`` (in ``booking``) hold a template for every (person, video or still) of their lists, ``multiview`` (in
    ``booking``) one for each person of ``surveillance_to_surveillance`` with all their videos, the enrolment clips among them, as PFE and
    AdaFace have it.

    Template ids are this reader's own, counted from 0, since probes have none in the lists; templates of the same pictures share one.
    A template none of whose faces was detected has an id and no row. ``media`` numbers the videos and stills. There are no pairs, scores
    or landmarks.

    Args:
        path: the folder of the lists.
        images: the folder of the faces; by default ``aligned``.
        name: what results are called after.
        lists_only: does not look whether the faces are there, which needs ``image_list.txt``.

    Raises:
        DataFormatError: naming the line, for a broken list; a face file with another kind of name; a person in g1 and g2 of one kind;
            missing faces; no face in any template.

    Warns:
        DataFormatWarning: where there are no images, and for listed probes in which ``cs6_metadata.csv`` knows nobody.
    """

    def __init__(self, path: Path, images: str | Path | None = None, name: str = 'ijbs', lists_only: bool = False) -> None:
        faces = Path(images) if images is not None else path / 'aligned'
        listed = path / _IMAGE_LIST
        super().__init__(faces, read_columns(listed, [('face', str)])['face'].tolist() if listed.is_file() else _list_faces(faces))
        if listed.is_file() and not lists_only:
            self.require(images is not None or faces.is_dir())
        people = read_people(path / _METADATA)
        ids: Templates = {}
        galleries = {f'{kind}_g{part}': read_gallery(path / f'galleries/cs6_surveillance_to_{kind}_g{part}.csv', ids)
                     for kind in _KINDS for part in (1, 2)}
        for kind in _KINDS:
            check_galleries(path, {name: gallery for name, gallery in galleries.items() if name.startswith(kind)})
        probes = {name: read_probes(path / file, people, ids) for name, file in _PROBES.items()}
        probes['multiview'] = all_videos(probes['surveillance_to_surveillance'].subject, people, ids)
        template, image, media = _rows(ids, _group(faces, self.files))
        if not len(image):
            raise DataFormatError(faces, value='no face belongs to any template', hint=f'expected faces of the people in {path}')
        self.set = TemplateSet(name=name, paths=[f'{faces}/{file}' for file in self.files], template=template, media=media, image=image,
                               galleries=galleries, probes=probes)

    @staticmethod
    def sniff(path: Path) -> bool:
        return (path / _METADATA).is_file()


def _list_faces(folder: Path) -> list[str]:
    """All faces, relative to the folder, sorted."""
    if not folder.is_dir():
        raise DataFormatError(folder, value='no such folder',
                              hint=f'give the folder of the faces with images=, or their names in {_IMAGE_LIST}')
    people = [entry.name for entry in os.scandir(folder) if entry.is_dir() and not entry.name.startswith('.')]
    return sorted(f'{person}/{file}' for person in people for file in os.listdir(folder / person)
                  if not file.startswith('.') and file != 'Thumbs.db')


def _group(folder: Path, files: Sequence[str]) -> dict[Source, list[int]]:
    """The rows of the faces of every source."""
    rows: dict[Source, list[int]] = {}
    for row, file in enumerate(files):
        match = _DETECTED.fullmatch(file)
        if not match:
            raise DataFormatError(folder, file, 'an unexpected name', 'expected <subject>/videos_<video>_<frame>.jpg or '
                                  '<subject>/img_<still>.jpg')
        rows.setdefault((int(match[1]), match[2] or match[3]), []).append(row)
    return rows


def _rows(ids: Mapping[tuple[Source, ...], int], faces: Mapping[Source, list[int]]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Template, image and medium of every row."""
    media: dict[Source, int] = {}
    rows = [(template, image, media.setdefault(source, len(media)))
            for sources, template in ids.items() for source in sources for image in faces.get(source, ())]
    return tuple(np.array(rows, np.int64).reshape(-1, 3).T)  # type: ignore[return-value]
