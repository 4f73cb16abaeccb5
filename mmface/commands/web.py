"""A page for the own machine: are two photos of one person, and who of a gallery is it? Open the address that it prints in a browser."""
import argparse
import sys
from pathlib import Path

from mmface.utils.caution import CAUTION

from .arguments import add_model_arguments, add_photo_arguments, add_threshold_arguments, open_cropper, open_model, open_threshold


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command line."""
    parser.epilog = f'{CAUTION}\n\nExit codes: 0 ended by Ctrl-C; 2 bad usage or input.'
    add_model_arguments(parser)
    parser.add_argument('--gallery', type=Path, metavar='FILE', help='people to look for, as the command gallery enrolled them')
    add_photo_arguments(parser)
    add_threshold_arguments(parser)
    serving = parser.add_argument_group('serving')
    serving.add_argument('--host', default='127.0.0.1', help='where to listen (default: %(default)s, which this machine alone reaches)')
    serving.add_argument('--port', type=int, default=7860, help='0 takes a free one (default: %(default)s)')
    serving.add_argument('--expose', action='store_true', help='confirm that others may reach a --host which is not this machine alone')


def run(args: argparse.Namespace) -> int:
    """Serves the page until Ctrl-C."""
    from mmface.apis.gallery import Gallery
    from mmface.apis.web_demo import create_app, make_web_server
    from mmface.apis.web_demo.serve import is_loopback
    embedder = open_model(args)
    gallery = None
    if args.gallery is not None:
        gallery = Gallery(args.gallery, embedder.model_id)
        gallery.info()  # there, and readable
    app = create_app(embedder, open_cropper(args, embedder), open_threshold(args, embedder), gallery)
    server = make_web_server(app, args.host, args.port, args.expose)
    if not is_loopback(args.host):
        print(f'web: WARNING: everybody who reaches {args.host} can use this page, and what they send is not encrypted', file=sys.stderr)
    print(f'runs on     {embedder.runs_on}\nopen        http://{args.host}:{server.port}/  (Ctrl-C ends it)\n\n{CAUTION}', flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        pass
    finally:
        server.server_close()
    return 0
