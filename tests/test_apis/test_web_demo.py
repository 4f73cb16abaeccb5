"""The page: what it answers, what it refuses, and what a browser makes of it."""
import io
import json
import re
import shutil
import tempfile
from threading import Thread

import cv2
import numpy as np
import pytest

from mmface.apis import DetectedFace, FaceCropper, Gallery, OnnxEmbedder, Threshold
from mmface.apis.web_demo import app as web_app
from mmface.apis.web_demo import create_app, make_web_server
from mmface.functional.geometry import landmark_template

pytest.importorskip('flask')
from werkzeug.datastructures import FileStorage
from werkzeug.test import encode_multipart

BROWSER = next(filter(None, map(shutil.which, ('chromium', 'chromium-browser', 'google-chrome'))), None)
DRIVER = shutil.which('chromedriver')
RED, BLUE = (228, 128, 128), (128, 128, 228)


class Middle:
    """A face of 48 x 32 px in the middle of every picture that is not black."""

    def detect(self, image):
        if not image.any():
            return []
        left, top = image.shape[1] / 2 - 24, image.shape[0] / 2 - 16
        return [DetectedFace((left, top, 48, 32), landmark_template((4, 6), 'arcface') * 8 + [left, top], .9)]


def photo(path, colour, height=100, width=120):
    cv2.imwrite(str(path), np.full((height, width, 3), colour[::-1], np.uint8))
    return path


@pytest.fixture
def gallery(colour_model, tmp_path):
    embedder = OnnxEmbedder(colour_model())
    gallery = Gallery(tmp_path / 'people', embedder.model_id)
    gallery.enroll(['Ada <b>', 'Bo'], np.array([[100., 0, 0], [0, 0, 100]]))
    return gallery


@pytest.fixture
def page(colour_model, gallery):
    embedder = OnnxEmbedder(colour_model())
    return create_app(embedder, FaceCropper(embedder.size, 'arcface', Middle()), Threshold(.5, 'chosen here', 1e-3), gallery)


@pytest.fixture
def client(page):
    page.testing = True
    return page.test_client()


def send(client, where='/verify', headers=None, **photos):
    return client.post(where, data={name: (io.BytesIO(data), filename) for name, (data, filename) in photos.items()}, headers=headers)


def encoded(colour, height=100, width=120):
    return cv2.imencode('.png', np.full((height, width, 3), colour[::-1], np.uint8))[1].tobytes()


def shown(answer, name):
    return re.search(rf'id="{name}">([^<]*)', answer.text)[1].strip()


def test_two_photos_give_crops_similarity_decision_and_far(client):
    answer = send(client, first=(encoded(RED), 'a.png'), second=(encoded((228, 128, 228)), 'b.png'))
    assert answer.status_code == 200
    assert float(shown(answer, 'similarity')) == pytest.approx(.5 ** .5, abs=1e-4)
    assert (shown(answer, 'threshold'), shown(answer, 'far'), shown(answer, 'decision')) == ('0.5000', '0.001', 'same person')
    assert answer.text.count('<img src="data:image/png;base64,') == 2
    assert shown(send(client, first=(encoded(RED), 'a'), second=(encoded(BLUE), 'b')), 'decision') == 'different people'


def test_a_search_names_people_and_the_chance_of_a_false_alarm_and_escapes_names(client):
    answer = send(client, '/search', photo=(encoded(RED), '<script>.png'))
    assert answer.status_code == 200
    rows = re.findall(r'<tr><td>([^<]*)</td><td>([^<]*)</td><td>([^<]*)</td>', answer.text)
    assert rows == [('Ada &lt;b&gt;', '1.0000', 'same person'), ('Bo', '0.0000', 'different people')]
    assert float(shown(answer, 'alarms')) == pytest.approx(1 - .999**2, rel=1e-2)
    assert '<script' not in answer.text


@pytest.mark.parametrize(('data', 'words'), [
    (b'junk', 'b.png: not an image'), (b'', 'b.png: empty file'), (encoded((0, 0, 0)), 'b.png: no face found'),
    (b'\x89PNG\r\n\x1a\n\0\0\0\rIHDR' + (9000).to_bytes(4, 'big') * 2 + b'\x08\2\0\0\0' + b'\0' * 64, 'b.png: PNG that claims 9000 x 9000'),
])
def test_a_photo_that_cannot_be_used_is_named_in_the_page(client, data, words):
    answer = send(client, first=(encoded(RED), 'a.png'), second=(data, 'b.png'))
    assert answer.status_code == 422
    assert words in answer.text
    assert '<form' in answer.text


def test_a_missing_photo_is_said(client):
    assert 'the second photo: none was chosen' in send(client, first=(encoded(RED), 'a.png')).text


def test_without_a_gallery_or_a_threshold_neither_is_pretended(colour_model):
    embedder = OnnxEmbedder(colour_model())
    client = create_app(embedder, FaceCropper(embedder.size, 'arcface', Middle())).test_client()
    assert '/search' not in client.get('/').text
    assert 'start the page with --gallery' in send(client, '/search', photo=(encoded(RED), 'a.png')).text
    answer = send(client, first=(encoded(RED), 'a.png'), second=(encoded(RED), 'b.png'))
    assert (shown(answer, 'threshold'), shown(answer, 'decision')) == ('none', 'none')


def test_more_bytes_than_allowed_are_refused_in_words(client, monkeypatch):
    answer = send(client, first=(bytes(web_app.MAX_BYTES), 'a.png'), second=(encoded(RED), 'b.png'))
    assert answer.status_code == 413
    assert 'more than 20 MB' in answer.text


def test_uploads_never_touch_the_disk(client, tmp_path, monkeypatch):
    noise = np.random.default_rng(0).integers(0, 256, (600, 800, 3), np.uint8)
    data = cv2.imencode('.png', noise)[1].tobytes()
    assert len(data) > 1_000_000  # Werkzeug's own limit is half of that
    boundary, body = encode_multipart({name: FileStorage(io.BytesIO(data), f'{name}.png') for name in ('first', 'second')})
    monkeypatch.setattr(tempfile, 'tempdir', str(tmp_path / 'absent'))  # so that a file there could not even be made
    kind = f'multipart/form-data; boundary={boundary}'
    assert client.post('/verify', input_stream=io.BytesIO(body), content_length=len(body), content_type=kind).status_code == 200


def test_every_answer_forbids_what_it_does_not_need(client):
    for answer in (client.get('/'), client.get('/static/style.css'), client.get('/none'), send(client)):
        policy = answer.headers['Content-Security-Policy']
        assert "default-src 'none'" in policy
        assert 'script-src' not in policy
        assert (answer.headers['Cache-Control'], answer.headers['X-Content-Type-Options'], answer.headers['Referrer-Policy']) == (
            'no-store', 'nosniff', 'no-referrer')


@pytest.mark.parametrize('headers', [{'X-Forwarded-For': '1.2.3.4'}, {'Forwarded': 'for=1.2.3.4'}, {'Sec-Fetch-Site': 'cross-site'}])
def test_proxies_tunnels_and_forms_of_other_sites_are_refused(client, headers):
    assert send(client, headers=headers, first=(encoded(RED), 'a'), second=(encoded(RED), 'b')).status_code == 403


def test_on_this_machine_it_answers_to_loopback_names_alone(page):
    make_web_server(page).server_close()
    client = page.test_client()
    for name, status in (('127.0.0.1:7860', 200), ('localhost', 200), ('rebound.example', 400), ('mmface.ngrok.app', 400)):
        assert client.get('/', headers=dict(Host=name)).status_code == status


def test_a_host_that_others_reach_takes_a_confirmation(page):
    for host in ('0.0.0.0', '192.0.2.1', '::', 'example.org'):
        with pytest.raises(ValueError, match=r'others could reach.*--expose'):
            make_web_server(page, host)


def test_nothing_of_the_page_is_from_elsewhere(client):
    for text in (client.get('/').text, client.get('/static/style.css').text):
        assert not re.findall(r'https?://|<script|@import|url\(|//', text)


def test_the_page_says_what_it_is_not(client):
    text = client.get('/').text
    assert 'not a probability' in text
    assert 'printed photo' in text
    assert 'not written to disk' in text


@pytest.mark.parametrize(('arguments', 'words'), [
    (('--host', '0.0.0.0'), '--expose'), (('--gallery', '{0}/none'), 'no such gallery'), (('--far', '1e-3'), 'no threshold'),
    (('--port', '99999'), 'port 99999: expected 0 to 65535')])
def test_the_tool_refuses_with_exit_code_2(tool, capsys, colour_model, tmp_path, arguments, words):
    assert tool('web_demo')([str(colour_model()), '--aligned', '--port', '0', *(text.format(tmp_path) for text in arguments)]) == 2
    assert words in capsys.readouterr().err


def test_a_taken_port_is_said(page):
    first = make_web_server(page)
    try:
        with pytest.raises(OSError, match='another --port'):
            make_web_server(page, port=first.port)
    finally:
        first.server_close()


@pytest.fixture
def address(page):
    server = make_web_server(page)
    thread = Thread(target=server.serve_forever)
    thread.start()
    yield f'http://127.0.0.1:{server.port}/'
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def browser():
    """A real one that can reach this machine alone and tells of every request it makes."""
    webdriver = pytest.importorskip('selenium.webdriver')
    if not BROWSER or not DRIVER:
        pytest.skip('needs chromium and chromedriver: the page is tried in a real browser')
    options = webdriver.ChromeOptions()
    options.binary_location = BROWSER
    for argument in ('--headless', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--disable-background-networking',
                     '--no-proxy-server', '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1'):
        options.add_argument(argument)
    options.set_capability('goog:loggingPrefs', {'browser': 'ALL', 'performance': 'ALL'})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    driver.implicitly_wait(10)  # seconds for the answer to a form to come
    yield driver
    driver.quit()


def upload(browser, action, **photos):
    form = browser.find_element('css selector', f'form[action="{action}"]')
    for name, path in photos.items():
        form.find_element('name', name).send_keys(str(path))
    form.find_element('tag name', 'button').click()


def test_a_browser_shows_faces_and_answers_without_a_complaint_and_asks_nobody_else(browser, address, tmp_path):
    browser.get(address)
    upload(browser, '/verify', first=photo(tmp_path / 'a.png', RED), second=photo(tmp_path / 'b.png', (228, 128, 228)))
    assert browser.find_element('id', 'similarity').text.startswith('0.7071')
    assert browser.find_element('id', 'decision').text == 'same person'
    assert browser.find_element('id', 'far').text.startswith('0.001')
    assert browser.execute_script('return [...document.images].map(image => [image.naturalWidth, image.naturalHeight])') == [[6, 4]] * 2
    assert browser.execute_script('return getComputedStyle(document.querySelector("button")).cursor') == 'pointer'  # the style is there
    upload(browser, '/search', photo=tmp_path / 'a.png')
    assert browser.find_element('css selector', 'tbody td').text == 'Ada <b>'
    assert browser.get_log('browser') == []
    messages = [json.loads(entry['message'])['message'] for entry in browser.get_log('performance')]
    asked = [message['params']['request']['url'] for message in messages if message['method'] == 'Network.requestWillBeSent']
    assert len(asked) >= 4
    assert all(url.startswith((address, 'data:')) for url in asked)


def test_a_browser_shows_why_a_photo_or_too_much_is_refused(browser, address, tmp_path):
    (tmp_path / 'bad.png').write_bytes(b'junk')
    (tmp_path / 'big.png').write_bytes(bytes(2 * web_app.MAX_BYTES))
    for name, words in (('bad.png', 'not an image'), ('big.png', 'more than 20 MB')):
        browser.get(address)
        upload(browser, '/verify', first=photo(tmp_path / 'a.png', RED), second=tmp_path / name)
        assert words in browser.find_element('css selector', '[role=alert]').text


def test_it_fits_a_phone(browser, address, tmp_path):
    browser.execute_cdp_cmd('Emulation.setDeviceMetricsOverride', dict(width=390, height=800, deviceScaleFactor=1, mobile=True))
    browser.get(address)
    upload(browser, '/verify', first=photo(tmp_path / 'a.png', RED), second=photo(tmp_path / f'{"long-name" * 15}.png', RED))
    assert browser.execute_script('return document.documentElement.scrollWidth') <= 390
