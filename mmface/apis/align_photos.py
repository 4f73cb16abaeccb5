"""From a tree of photos to a tree of aligned faces."""
import json
import multiprocessing
import os
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from mmface.utils.atomic_file import atomic_file
from mmface.utils.progress import Progress

from .face_cropper import FaceCropper
from .photo import PhotoError
from .points_detector import build_detector

SUFFIXES = ('.jpg', '.jpeg', '.png', '.bmp', '.webp', '.gif', '.tif', '.tiff', '.ppm', '.pgm', '.heic', '.heif', '.avif')
"""What is taken for a photo; the last three cannot be read, and are reported."""
JOURNAL, REPORT = 'align_journal.jsonl', 'align_report.json'


@dataclass(frozen=True)
class AlignSettings:
    """What decides how a crop looks.

    Attributes:
        size: (height, width) in pixels.
        template: a key of :data:`mmface.functional.geometry.TEMPLATES`.
        detector: ``'yunet'``, or ``'module:function'``, see :func:`~mmface.apis.points_detector.build_detector`.
        detector_file: YuNet's ONNX file; None fetches it once.
        choice: which of several faces in a photo is taken, a key of :data:`~mmface.apis.face_cropper.CHOICES`.
        suffix: ``'.jpg'`` (quality 95) or ``'.png'``.
    """
    size: tuple[int, int] = (112, 112)
    template: str = 'arcface'
    detector: str = 'yunet'
    detector_file: str | None = None
    choice: str = 'central'
    suffix: str = '.jpg'

    def to_dict(self) -> dict[str, Any]:
        """Numbers, strings and lists only, for JSON."""
        return dict(asdict(self), size=list(self.size))


def align_photos(photos: Path, out: Path, settings: AlignSettings, workers: int = 1) -> dict[str, Any]:
    """Aligns every photo below ``photos``, turned upright by its EXIF orientation, and writes ``out/<same path>.jpg``.

    Crops appear whole or not at all. What became of each photo is noted in ``out/align_journal.jsonl`` as it happens, so an interrupted
    call goes on where it was; photos that were changed since are done again. At the end ``out/align_report.json`` sums up.

    Args:
        photos: the root of the tree; hidden files and what has no suffix of an image are left alone.
        out: another folder.
        settings: how; a folder holds crops of one kind only.
        workers: processes; 1 uses none but this.

    Returns:
        The report: ``settings``, ``counts``, ``skipped`` (photos without a crop: ``photo``, ``reason``, ``message``) and ``several`` (crops
        of photos with several faces: ``photo``, ``faces``).

    Raises:
        ValueError: for no photo, two photos that would become one crop, an ``out`` inside ``photos`` or with crops made otherwise, or a
            detector that is none.
        DownloadError: where YuNet is to be fetched and cannot be.
    """
    if out.resolve().is_relative_to(photos.resolve()):
        raise ValueError(f'{out} lies inside {photos}: the crops would be taken for photos the next time')
    names = _list(photos)
    build_detector(settings.detector, settings.detector_file)  # fail here, not in a worker
    out.mkdir(parents=True, exist_ok=True)
    done = _read_journal(out, photos, settings)
    left = [name for name in names if name not in done]
    with (out / JOURNAL).open('a', encoding='utf-8') as journal, Progress('aligning', len(names), 'photos') as progress:
        if not journal.tell():
            _note(journal, settings.to_dict())
        progress.skip(len(names) - len(left))
        for entry in _align_all(photos, out, settings, left, workers):
            _note(journal, entry)
            done[entry['photo']] = entry
            progress.advance()
    report = summarise(settings, [done[name] for name in names])
    with atomic_file(out / REPORT) as file:
        file.write(json.dumps(report, indent=1, ensure_ascii=False).encode() + b'\n')
    return report


def summarise(settings: AlignSettings, entries: list[dict]) -> dict[str, Any]:
    """The report of what became of each photo."""
    reasons = Counter(entry['reason'] for entry in entries if 'reason' in entry)
    several = [dict(photo=entry['photo'], faces=entry['faces']) for entry in entries if entry.get('faces', 1) > 1]
    counts = dict(photos=len(entries), aligned=len(entries) - sum(reasons.values()), several_faces_taken=len(several), **reasons)
    skipped = [dict(photo=entry['photo'], reason=entry['reason'], message=entry['message']) for entry in entries if 'reason' in entry]
    return dict(settings=settings.to_dict(), counts=counts, skipped=skipped, several=several)


def _list(photos: Path) -> list[str]:
    names = sorted(
        path.relative_to(photos).as_posix() for path in photos.rglob('*')
        if path.suffix.lower() in SUFFIXES and not path.name.startswith('.') and path.is_file())
    if not names:
        raise ValueError(f'{photos}: no photo in this folder or below (a file that ends in {", ".join(SUFFIXES)})')
    crops: dict[str, str] = {}
    for name in names:
        other = crops.setdefault(os.path.splitext(name)[0], name)
        if other != name:
            raise ValueError(f'{photos}: {other} and {name} would become one crop: rename one of them')
    return names


def _state(path: Path) -> list[int]:
    status = path.stat()
    return [status.st_size, status.st_mtime_ns]


def _read_journal(out: Path, photos: Path, settings: AlignSettings) -> dict[str, dict]:
    """The photos that are done and have not been changed since, with what became of them."""
    path = out / JOURNAL
    if not path.exists():
        return {}
    text = path.read_text(encoding='utf-8')
    whole = text[:text.rfind('\n') + 1]
    if whole != text:  # the last line was cut when the run was killed
        with atomic_file(path) as file:
            file.write(whole.encode())
    first, *lines = whole.splitlines() or ['{}']
    wanted, found = settings.to_dict(), json.loads(first)
    changed = [f'{key} {found.get(key)} then, {value} now' for key, value in wanted.items() if found.get(key, value) != value]
    if changed:
        raise ValueError(f'{out} holds crops that were made otherwise: {"; ".join(changed)}. Choose another folder')
    entries = {entry['photo']: entry for entry in map(json.loads, lines)}
    return {
        name: entry
        for name, entry in entries.items() if (photos / name).is_file() and entry['state'] == _state(photos / name) and
        ('reason' in entry or (out / entry['crop']).is_file())
    }


def _note(journal: Any, entry: dict) -> None:
    journal.write(json.dumps(entry, ensure_ascii=False) + '\n')
    journal.flush()


def _align_all(photos: Path, out: Path, settings: AlignSettings, names: list[str], workers: int) -> Iterator[dict]:
    if workers <= 1:
        _Worker.start(photos, out, settings)
        yield from map(_Worker.align, names)
        return
    context = multiprocessing.get_context('spawn')  # OpenCV's threads, which the detector has used, do not survive a fork
    with ProcessPoolExecutor(workers, context, initializer=_Worker.start, initargs=(photos, out, settings)) as pool:
        yield from pool.map(_Worker.align, names, chunksize=8)


class _Worker:
    """What a process needs to align a photo; made once in each."""
    cropper: FaceCropper
    photos: Path
    out: Path
    suffix: str

    @classmethod
    def start(cls, photos: Path, out: Path, settings: AlignSettings) -> None:
        cv2.setNumThreads(1)
        detector = build_detector(settings.detector, settings.detector_file)
        cls.cropper = FaceCropper(settings.size, settings.template, detector, settings.choice, min_face=0)
        cls.photos, cls.out, cls.suffix = photos, out, settings.suffix

    @classmethod
    def align(cls, name: str) -> dict:
        path, target = cls.photos / name, os.path.splitext(name)[0] + cls.suffix
        entry = dict(photo=name, state=_state(path))
        try:
            crop = cls.cropper(path)
        except PhotoError as error:
            return dict(entry, reason=error.kind, message=error.problem)
        _write(cls.out / target, crop.image)
        face = crop.face.to_dict() if crop.face else {}
        return dict(entry, crop=target, faces=crop.others + 1, residual=crop.residual, **face)


def _write(path: Path, image: np.ndarray) -> None:
    options = [cv2.IMWRITE_JPEG_QUALITY, 95] if path.suffix == '.jpg' else []
    data = cv2.imencode(path.suffix, cv2.cvtColor(image, cv2.COLOR_RGB2BGR), options)[1]
    with atomic_file(path) as file:
        file.write(data.tobytes())
