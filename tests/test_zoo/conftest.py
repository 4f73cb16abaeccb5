"""A cache of one's own, a web server, and an index of a few models."""
import importlib.util
from pathlib import Path
from threading import Thread

import pytest

from mmface.zoo import model_index

_SPEC = importlib.util.spec_from_file_location('zoo_web_server', Path(__file__).with_name('web_server.py'))
_MODULE = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(_MODULE)
BODY = bytes(range(256)) * 3000  # more than two blocks


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """mmface's folder in MMEngine's cache, not made yet."""
    monkeypatch.setenv('MMENGINE_HOME', str(tmp_path / 'home'))
    return tmp_path / 'home/mmface'


@pytest.fixture
def server(monkeypatch):
    """See :class:`WebServer`; serves :data:`BODY`."""
    monkeypatch.setenv('no_proxy', '*')
    monkeypatch.delenv('MMFACE_OFFLINE', raising=False)
    web = _MODULE.WebServer()
    web.body = BODY
    thread = Thread(target=web.serve_forever, kwargs=dict(poll_interval=.01), daemon=True)
    thread.start()
    yield web
    web.shutdown()
    thread.join()
    web.server_close()


@pytest.fixture(scope='session')
def index():
    """The zoo of the checkout."""
    return model_index()
