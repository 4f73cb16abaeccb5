"""The page itself: what is asked, and what is answered."""
import base64
from threading import Lock
from typing import TYPE_CHECKING

import cv2
import numpy as np

from mmface.apis.face_cropper import FaceCrop, FaceCropper
from mmface.apis.gallery import Gallery
from mmface.apis.open_embedder import Embedder
from mmface.apis.photo import PhotoError, decode_photo
from mmface.apis.threshold import Threshold
from mmface.apis.verify import compare_faces
from mmface.utils.caution import CAUTION
from mmface.utils.dependency import require_extra

if TYPE_CHECKING:
    from flask import Flask

MAX_BYTES = 20_000_000
"""Of both photos together."""
MAX_PIXELS = 50_000_000
"""Of each photo; it takes three bytes a pixel in memory."""
TOP = 5


def create_app(embedder: Embedder, cropper: FaceCropper, threshold: Threshold | None = None, gallery: Gallery | None = None) -> 'Flask':
    """Builds the page. It is made on the server, without scripts and without anything from elsewhere.

    Args:
        embedder: the network.
        cropper: cuts the faces out.
        threshold: from which similarity on two faces are taken for one person's; None gives no decisions.
        gallery: whom to look for; None leaves the search out.

    Raises:
        ImportError: Flask is not installed.
    """
    require_extra('flask', 'the web page', extra='web')
    from flask import Flask, render_template

    from .guard import guard
    app = Flask(__name__)
    guard(app, MAX_BYTES)
    alone = Lock()  # neither OpenCV's detector nor the gallery's answer is for two at once
    facts = dict(model=embedder.path.name, runs_on=embedder.runs_on, threshold=threshold, caution=CAUTION.replace('\n', ' '),
                 gallery=gallery, max_megabytes=MAX_BYTES // 10**6, max_megapixels=MAX_PIXELS // 10**6, picture=_picture)  # yapf: disable

    @app.get('/')
    def index() -> str:
        return render_template('page.html', **facts)

    @app.post('/verify')
    def verify() -> str:
        with alone:
            first, second = _crop(cropper, 'first'), _crop(cropper, 'second')
            return render_template('page.html', **facts, verification=compare_faces(embedder, first, second, threshold))

    @app.post('/search')
    def search() -> str:
        if gallery is None:
            raise PhotoError('gallery', 'there is none: start the page with --gallery FILE')
        with alone:
            crop = _crop(cropper, 'photo')
            photos, (matches, ) = gallery.info()['photos'], gallery.search(embedder.embed(crop.image[None]), TOP)
        return render_template('page.html', **facts, crop=crop, matches=matches, photos=photos)

    @app.errorhandler(ValueError)
    def unusable(error: ValueError) -> tuple[str, int]:
        return render_template('page.html', **facts, problem=str(error)), 422

    @app.errorhandler(413)
    def too_large(_: Exception) -> tuple[str, int]:
        problem = f'the photos have more than {MAX_BYTES // 10**6} MB together: use smaller ones'
        return render_template('page.html', **facts, problem=problem), 413

    return app


def _crop(cropper: FaceCropper, field: str) -> FaceCrop:
    from flask import request
    upload = request.files.get(field)
    if upload is None or not upload.filename:
        raise PhotoError(f'the {field} photo', 'none was chosen')
    return cropper.crop(decode_photo(upload.read(), upload.filename, MAX_PIXELS), upload.filename)


def _picture(image: np.ndarray) -> str:
    """uint8 RGB [H, W, 3] as the text of an address that holds the picture itself."""
    return 'data:image/png;base64,' + base64.b64encode(cv2.imencode('.png', image[..., ::-1])[1].tobytes()).decode()
