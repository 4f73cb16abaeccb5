"""A web server on this machine that misbehaves on request."""
import re
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PAGE = b'<!DOCTYPE html><html><body>Sign in to download</body></html>'


class WebServer(ThreadingHTTPServer):
    """Serves ``body`` at any path, in the manner that the path begins with: ``/good/name``.

    Attributes:
        body, tag: the file and its ETag; None sends none.
        ranges: whether it can send the rest of a file.
        cut: how many bytes of each answer it sends before it hangs up; None for all.
        requests: (manner, Range header) of each request.
    """
    daemon_threads = True

    def __init__(self):
        super().__init__(('127.0.0.1', 0), Handler)
        self.body, self.tag, self.ranges, self.cut, self.requests = b'', '"1"', True, None, []

    def url(self, manner='good', name='file.bin'):
        return f'http://127.0.0.1:{self.server_port}/{manner}/{name}'


class Handler(BaseHTTPRequestHandler):
    """One request."""

    def do_GET(self):
        manner = self.path.split('/')[-2]
        self.server.requests.append((manner, self.headers.get('Range')))
        getattr(self, manner.replace('-', '_'), self.good)()

    def good(self):
        server, first = self.server, 0
        asked = re.fullmatch(r'bytes=(\d+)-', self.headers.get('Range') or '')
        if asked and server.ranges and self.headers.get('If-Range') in (None, server.tag):
            first = int(asked[1])
        if first >= len(server.body) > 0:
            self.send_error(416)
            return
        body = server.body[first:]
        self.send_response(206 if first else 200)
        if first:
            self.send_header('Content-Range', f'bytes {first}-{len(server.body) - 1}/{len(server.body)}')
        self.finish_answer(body)

    def finish_answer(self, body, length=None, **headers):
        if self.server.tag:
            self.send_header('ETag', self.server.tag)
        for name, value in headers.items():
            self.send_header(name.replace('_', '-'), value)
        self.send_header('Content-Length', str(len(body) if length is None else length))
        self.end_headers()
        self.wfile.write(body[:self.server.cut])

    def altered(self):
        self.send_response(200)
        self.finish_answer(self.server.body[:-1] + b'!')

    def longer(self):
        self.send_response(200)
        self.finish_answer(self.server.body + b'more')

    def short(self):
        self.send_response(200)
        self.finish_answer(self.server.body[:-9])

    def page(self):
        self.send_response(200)
        self.finish_answer(PAGE, Content_Type='text/html; charset=utf-8')

    def disguised(self):
        self.send_response(200)
        self.finish_answer(PAGE, Content_Type='application/octet-stream')

    def to_page(self):
        self.send_response(302)
        self.send_header('Location', '/page/login')
        self.end_headers()

    def to_file(self):
        self.send_response(302)
        self.send_header('Location', '/good/other-name.bin')
        self.end_headers()

    def to_disk(self):
        self.send_response(302)
        self.send_header('Location', 'file:///etc/hostname')
        self.end_headers()

    def packed(self):
        self.send_response(200)
        self.finish_answer(self.server.body, Content_Encoding='gzip')

    def other_part(self):
        self.send_response(206)
        self.send_header('Content-Range', f'bytes 1-{len(self.server.body) - 1}/{len(self.server.body)}')
        self.finish_answer(self.server.body[1:])

    def absent(self):
        self.send_error(404)

    def broken(self):
        self.send_error(503)

    def endless(self):
        self.send_response(200)
        self.end_headers()
        for _ in range(64):
            self.wfile.write(self.server.body)

    def stalls(self):
        self.send_response(200)
        self.send_header('Content-Length', str(len(self.server.body)))
        self.end_headers()
        self.wfile.write(self.server.body[:100])
        self.wfile.flush()
        time.sleep(2)

    def slow(self):
        time.sleep(.3)
        self.good()

    def log_message(self, *_):
        pass
