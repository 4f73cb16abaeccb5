"""Who is this? Enrols people in a gallery on disk, looks for the person in a photo among them, forgets them again."""
import argparse
import json
from pathlib import Path

from mmface.utils.caution import CAUTION

from .arguments import add_model_arguments, add_photo_arguments, add_threshold_arguments


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command line."""
    parser.epilog = (f'{CAUTION}\n\nThe file holds embeddings, names and dates, no images; it is for its owner alone (mode 0600).\n'
                     'Exit codes: 0 done; 2 bad usage, or a photo or file that cannot be used; 3 done, but photos were skipped\n'
                     '(--on-error skip).')
    actions = parser.add_subparsers(dest='action', metavar='ACTION', required=True)
    enroll = actions.add_parser('enroll', help='add photos of people')
    search = actions.add_parser('search', help='look for the person in each photo')
    remove = actions.add_parser('remove', help='forget people; their embeddings are overwritten')
    info = actions.add_parser('info', help='who is enrolled, since when and until when')
    for action in (enroll, search, remove, info):
        action.add_argument('gallery', type=Path, help='the file')
        action.add_argument('--json', action='store_true', help='print one JSON object')
    for action in (enroll, search):
        add_model_arguments(action)
        action.add_argument('photos', nargs='+', type=Path, metavar='PHOTO', help='image files, or folders of them')
        add_photo_arguments(action)
        action.add_argument('--on-error', choices=['stop', 'skip'], default='stop',
                             help='what to do about a photo that cannot be used (default: %(default)s)')
    enroll.add_argument('--person', metavar='NAME', help='whose photos they are (default: the name of the folder that each is in)')
    enroll.add_argument('--expires', metavar='WHEN', help='stop finding them then: a date (2027-01-31) or a number of days (365)')
    search.add_argument('--top', type=int, default=5, help='how many people to name (default: %(default)s)')
    add_threshold_arguments(search)
    remove.add_argument('people', nargs='*', metavar='NAME', help='whom to forget')
    remove.set_defaults(refuse=remove.error)
    remove.add_argument('--expired', action='store_true', help='everybody whose time has passed')


def run(args: argparse.Namespace) -> int:
    """Does what was asked for, and says what came of it."""
    if args.action == 'remove' and bool(args.people) == args.expired:
        args.refuse('name the people, or say --expired')
    from .gallery_run import ACTIONS, describe
    try:
        result = ACTIONS[args.action](args)
    except (ValueError, OSError, ImportError) as error:
        if not args.json:
            raise
        print(json.dumps(dict(error=str(error))))
        return 2
    print(json.dumps(result) if args.json else describe(args.action, result))
    return 3 if result['skipped'] else 0
