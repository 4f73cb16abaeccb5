"""What the command ``gallery`` does once it knows what is wanted."""
import argparse
from datetime import datetime, timedelta, timezone
from pathlib import Path

import numpy as np

from mmface.apis.face_cropper import crop_photos
from mmface.apis.gallery import Gallery
from mmface.apis.open_embedder import Embedder
from mmface.apis.photo import photo_files

from .arguments import open_cropper, open_model, open_threshold


def enroll(args: argparse.Namespace) -> dict:
    """Adds the photos, all of them in one step."""
    expires, embedder = _moment(args.expires), open_model(args)
    gallery = Gallery(args.gallery, embedder.model_id)
    photos, embeddings, skipped = _embed(args, embedder)
    people = [args.person or photo.parent.resolve().name for photo in photos]
    if photos:
        gallery.enroll(people, embeddings, expires)
    return dict(enrolled=[dict(photo=str(photo), person=person) for photo, person in zip(photos, people, strict=True)], skipped=skipped)


def search(args: argparse.Namespace) -> dict:
    """Looks for each photo's person."""
    embedder = open_model(args)
    threshold = open_threshold(args, embedder)
    gallery = Gallery(args.gallery, embedder.model_id)
    photos, embeddings, skipped = _embed(args, embedder)
    enrolled = gallery.info()['photos']
    answers = []
    for photo, matches in zip(photos, gallery.search(embeddings, args.top) if photos else [], strict=True):
        accepted = [match.person for match in matches if threshold and match.similarity >= threshold.value]
        answers.append(dict(photo=str(photo), matches=[dict(person=match.person, similarity=match.similarity) for match in matches],
                            found=accepted[0] if accepted else None))  # yapf: disable
    return dict(
        answers=answers, threshold=threshold and threshold.value, threshold_source=threshold and threshold.source,
        far=threshold and threshold.far, photos_in_gallery=enrolled,
        # The chance that somebody who is not enrolled is taken for one who is, comparisons taken as independent.
        false_alarm_rate=threshold and threshold.false_alarm_rate(enrolled), skipped=skipped)


def remove(args: argparse.Namespace) -> dict:
    """Forgets people."""
    gallery = Gallery(args.gallery)
    return dict(removed=gallery.remove_expired() if args.expired else gallery.remove(args.people), skipped=[])


def info(args: argparse.Namespace) -> dict:
    """Lists people."""
    return dict(Gallery(args.gallery).info(), skipped=[])


def describe(action: str, result: dict) -> str:
    """A result for people to read."""
    lines = [f'skipped     {entry["problem"]}' for entry in result['skipped']]
    if action == 'enroll':
        lines += [f'enrolled    {entry["person"]}  ({entry["photo"]})' for entry in result['enrolled']]
    elif action == 'remove':
        lines.append(f'removed     {result["removed"]} photos')
    elif action == 'info':
        lines += [f'network     {result["model_id"]}', f'photos      {result["photos"]}']
        for name, of in result['people'].items():
            until = f', until {of["expires"]}{" (expired)" if of["expired"] else ""}' if of['expires'] else ''
            lines.append(f'person      {name}: {of["photos"]} photos, since {of["enrolled"]}{until}')
    else:
        for answer in result['answers']:
            verdict = f': {answer["found"] or "nobody enrolled"}' if result['threshold'] is not None else ''
            lines.append(f'photo       {answer["photo"]}{verdict}')
            lines += [f'            {match["similarity"]:.4f}  {match["person"]}' for match in answer['matches']]
        lines.append(_threshold_text(result))
    return '\n'.join(lines)


def _threshold_text(result: dict) -> str:
    if result['threshold'] is None:
        return 'threshold   none: the model file carries none and none was given (--threshold T); so there is no decision'
    text = f'threshold   {result["threshold"]:.4f}  ({result["threshold_source"]})'
    if result['far'] is None:
        return text
    return (f'{text}\n            false accept rate of one comparison {result["far"]:.2g}, of a search among '
            f'{result["photos_in_gallery"]:,} photos about {result["false_alarm_rate"]:.2g}')


def _embed(args: argparse.Namespace, embedder: Embedder) -> tuple[list[Path], np.ndarray, list[dict]]:
    """The photos that could be used, their embeddings, and what was wrong with the others."""
    used, crops, problems = crop_photos(open_cropper(args, embedder), photo_files(args.photos), args.on_error)
    skipped = [dict(photo=error.path, problem=str(error)) for error in problems]
    return used, embedder.embed(np.stack([crop.image for crop in crops])) if crops else np.empty((0, 0)), skipped


def _moment(text: str | None) -> datetime | None:
    if text is None:
        return None
    if text.isdigit():
        return datetime.now(timezone.utc) + timedelta(days=int(text))
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise ValueError(f'--expires is a date (2027-01-31) or a number of days (365), got {text!r}') from None
    return moment if moment.tzinfo else moment.replace(tzinfo=timezone.utc)


ACTIONS = dict(enroll=enroll, search=search, remove=remove, info=info)
