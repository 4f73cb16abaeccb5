#!/usr/bin/env python
"""Who is this? Enrols people in a gallery on disk, looks for the person in a photo among them, forgets them again."""
import argparse
import json
import sys
from datetime import datetime, timedelta, timezone
from pathlib import Path

import numpy as np

from mmface.apis.arguments import (
    add_model_arguments,
    add_photo_arguments,
    add_threshold_arguments,
    open_cropper,
    open_model,
    open_threshold,
)
from mmface.apis.face_cropper import crop_photos
from mmface.apis.gallery import Gallery
from mmface.apis.onnx_backend import OnnxEmbedder
from mmface.apis.photo import photo_files
from mmface.apis.verify import CAUTION

OK, INPUT, SKIPPED = 0, 2, 3


def parse_args(argv: list[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog=f'{CAUTION}\n\nThe file holds embeddings, names and dates, no images; it is for its owner alone (mode 0600).\n'
        'Exit codes: 0 done; 2 bad usage, or a photo or file that cannot be used; 3 done, but photos were skipped (--on-error skip).')
    commands = parser.add_subparsers(dest='command', required=True)
    enroll = commands.add_parser('enroll', help='add photos of people')
    search = commands.add_parser('search', help='look for the person in each photo')
    remove = commands.add_parser('remove', help='forget people; their embeddings are overwritten')
    info = commands.add_parser('info', help='who is enrolled, since when and until when')
    for command in (enroll, search, remove, info):
        command.add_argument('gallery', type=Path, help='the file')
        command.add_argument('--json', action='store_true', help='print one JSON object')
    for command in (enroll, search):
        add_model_arguments(command)
        command.add_argument('photos', nargs='+', type=Path, metavar='PHOTO', help='image files, or folders of them')
        add_photo_arguments(command)
        command.add_argument('--on-error', choices=['stop', 'skip'], default='stop',
                             help='what to do about a photo that cannot be used (default: %(default)s)')
    enroll.add_argument('--person', metavar='NAME', help='whose photos they are (default: the name of the folder that each is in)')
    enroll.add_argument('--expires', metavar='WHEN', help='stop finding them then: a date (2027-01-31) or a number of days (365)')
    search.add_argument('--top', type=int, default=5, help='how many people to name (default: %(default)s)')
    add_threshold_arguments(search)
    remove.add_argument('people', nargs='*', metavar='NAME', help='whom to forget')
    remove.add_argument('--expired', action='store_true', help='everybody whose time has passed')
    args = parser.parse_args(argv)
    if args.command == 'remove' and bool(args.people) == args.expired:
        remove.error('name the people, or say --expired')
    return args


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


def describe(command: str, result: dict) -> str:
    """A result for people to read."""
    lines = [f'skipped     {entry["problem"]}' for entry in result['skipped']]
    if command == 'enroll':
        lines += [f'enrolled    {entry["person"]}  ({entry["photo"]})' for entry in result['enrolled']]
    elif command == 'remove':
        lines.append(f'removed     {result["removed"]} photos')
    elif command == 'info':
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


def _embed(args: argparse.Namespace, embedder: OnnxEmbedder) -> tuple[list[Path], np.ndarray, list[dict]]:
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


def main(argv: list[str] | None = None) -> int:
    """Runs the tool and returns its exit code."""
    args = parse_args(argv)
    try:
        result = dict(enroll=enroll, search=search, remove=remove, info=info)[args.command](args)
    except (ValueError, OSError, ImportError) as error:
        print(json.dumps(dict(error=str(error))) if args.json else f'gallery: {error}', file=sys.stdout if args.json else sys.stderr)
        return INPUT
    print(json.dumps(result) if args.json else describe(args.command, result))
    return SKIPPED if result['skipped'] else OK


if __name__ == '__main__':
    sys.exit(main())
