"""Who can reach the page."""
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from flask import Flask

LOOPBACK = ('127.0.0.1', 'localhost')


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach a server that listens there."""
    return host in LOOPBACK


def make_web_server(app: 'Flask', host: str = '127.0.0.1', port: int = 0, exposed: bool = False) -> Any:
    """A server for the page that keeps no log; ``serve_forever()`` runs it, ``shutdown()`` ends it.

    On this machine it answers to its loopback names alone: a page elsewhere cannot reach it through a name that it points here.

    Args:
        app: the page.
        host: where to listen.
        port: likewise; 0 takes a free one, ``server.port``.
        exposed: confirms that others may reach the page, which knows no users and no encryption.

    Raises:
        ValueError: a host that others can reach, without that; no port.
        OSError: the port is taken.
    """
    from werkzeug.serving import WSGIRequestHandler, make_server

    class Silent(WSGIRequestHandler):

        def log(self, *_: object) -> None:
            pass

    if not is_loopback(host) and not exposed:
        raise ValueError(f'others could reach {host}: the page has no users, no passwords and no encryption, and whoever reaches it can '
                         'compare faces and search the gallery. To let them, add --expose')
    if not 0 <= port < 2**16:  # a system takes the remainder and listens elsewhere
        raise ValueError(f'port {port}: expected 0 to 65535')
    if is_loopback(host):
        app.config['TRUSTED_HOSTS'] = list(LOOPBACK)
    try:
        return make_server(host, port, app, threaded=True, request_handler=Silent)
    except SystemExit as error:  # Werkzeug's way to say so
        raise OSError(f'{host}:{port} cannot be used: is another program listening there? Choose another --port') from error
