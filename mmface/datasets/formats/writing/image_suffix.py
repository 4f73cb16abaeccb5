"""What a file is called whose content is known."""
from ...image_header import Encoded, read_header

_SUFFIXES = {'JPEG': 'jpg', 'TIFF': 'tif', 'PNM': 'ppm'}


def image_suffix(image: Encoded) -> str:
    """``'jpg'``, ``'png'`` ... by the content; what is no image gets the usual one, ``'jpg'``."""
    try:
        kind, _, _ = read_header(image) or ('JPEG', 0, 0)
    except ValueError:
        kind = 'JPEG'
    return _SUFFIXES.get(kind, kind.lower())
