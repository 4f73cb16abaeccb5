"""What keeps the page private: uploads in memory alone, nothing from elsewhere, nobody in between."""
import io
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from flask import Flask, Request, Response

HEADERS = {
    'Content-Security-Policy': "default-src 'none'; style-src 'self'; img-src data:; form-action 'self'; base-uri 'none'; "
                               "frame-ancestors 'none'",
    'Cache-Control': 'no-store',
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Cross-Origin-Resource-Policy': 'same-origin',
    'Permissions-Policy': 'camera=(), microphone=(), geolocation=()',
    'Referrer-Policy': 'no-referrer',
    'X-Content-Type-Options': 'nosniff',
    'X-Frame-Options': 'DENY',
}
_PUBLISHED = ('Forwarded', 'X-Forwarded-For', 'X-Forwarded-Host')
_DRAINED = 10  # times the limit: what is read and thrown away so that a browser waits for the answer


def guard(app: 'Flask', max_bytes: int) -> None:
    """Puts limits and headers on every request and answer.

    Uploads never touch a disk. Refused are requests that came through a proxy or a tunnel, by which the page would be published, and forms
    of other sites. The server says to which host names it answers at all (``TRUSTED_HOSTS``), see
    :func:`~mmface.apis.web_demo.make_web_server`.
    """
    from flask import abort, request
    app.request_class = _memory_request()
    app.config.update(MAX_CONTENT_LENGTH=max_bytes, MAX_FORM_PARTS=8)

    @app.before_request
    def refuse() -> None:
        if any(name in request.headers for name in _PUBLISHED):
            abort(403, 'This page is for this machine alone and does not answer through a proxy or a tunnel.')
        if request.headers.get('Sec-Fetch-Site', 'same-origin') not in ('same-origin', 'none') and request.method != 'GET':
            abort(403, 'This form was sent by another site.')
        if (request.content_length or 0) > max_bytes:
            _drain(request, max_bytes * _DRAINED)
            abort(413)

    @app.after_request
    def add_headers(response: 'Response') -> 'Response':
        response.headers.update(HEADERS)
        return response


def _memory_request() -> type['Request']:
    from flask import Request

    class MemoryRequest(Request):
        """By default Werkzeug puts uploads over 500 kB into the folder for temporary files."""

        def _get_file_stream(self, total_content_length: int | None, content_type: str | None, filename: str | None = None,
                             content_length: int | None = None) -> IO[bytes]:
            return io.BytesIO()

    return MemoryRequest


def _drain(request: 'Request', at_most: int) -> None:
    """Reads on: a browser that is cut off in the middle of sending shows a broken connection in the place of the answer."""
    left = min(request.content_length or 0, at_most)
    while left > 0:
        left -= len(request.environ['wsgi.input'].read(min(left, 1 << 16))) or left
