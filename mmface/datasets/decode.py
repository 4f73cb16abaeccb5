"""From encoded bytes to pixels, by one rule for every kind of image."""
import cv2
import numpy as np

from .image_header import Encoded, read_header

MAX_PIXELS = 250_000_000
"""The largest image that is decoded unless somebody asks for more: 0.75 GB as RGB."""

# Without IMREAD_ANYDEPTH OpenCV would cut 16 bits to 8 by shifting. From 4.11 on it can give RGB itself.
_GIVES_RGB = hasattr(cv2, 'IMREAD_COLOR_RGB')
_UPRIGHT = (cv2.IMREAD_COLOR_RGB if _GIVES_RGB else cv2.IMREAD_COLOR) | cv2.IMREAD_ANYDEPTH
_AS_STORED = _UPRIGHT | cv2.IMREAD_IGNORE_ORIENTATION

_FOREIGN = (  # how a file begins that is none of our formats, the place of these bytes, and what to tell its owner
    (4, b'ftyphei', 'HEIC, which is not read here: convert it to JPEG or PNG'),
    (4, b'ftyphev', 'HEIC, which is not read here: convert it to JPEG or PNG'),
    (4, b'ftypmif1', 'HEIC, which is not read here: convert it to JPEG or PNG'),
    (4, b'ftypmsf1', 'HEIC, which is not read here: convert it to JPEG or PNG'),
    (4, b'ftypavi', 'AVIF, which is not read here: convert it to JPEG or PNG'),
    (4, b'jP  ', 'JPEG 2000, which is not read here: convert it to JPEG or PNG'),
    (0, b'\xff\x4f\xff\x51', 'JPEG 2000, which is not read here: convert it to JPEG or PNG'),
    (0, b'version https://git-lfs', 'not an image but a Git LFS pointer to one: run "git lfs pull" where it comes from'),
)


def decode_image(data: Encoded | np.ndarray, *, upright: bool = False, max_pixels: int = MAX_PIXELS) -> np.ndarray:
    """Decodes an image by its content, whatever its file was called: JPEG, PNG, GIF (the first picture), WebP, BMP, TIFF or PNM.

    Grey gives three equal channels, a palette is expanded, CMYK is converted, alpha is dropped, 16 bits are divided by 257 and rounded.
    Sets that store pixels (AdaFace's memory files) hand over an array, which is returned as it is.

    Args:
        data: the file's bytes, or pixels, uint8 ``[H, W, 3]`` RGB.
        upright: whether to turn the image as its EXIF orientation says, so that people stand on their feet. False for packed sets and
            aligned crops, whose makers all ignored it; True for whatever people took with a camera.
        max_pixels: images whose header claims more are not decoded.

    Returns:
        uint8 ``[H, W, 3]``, RGB.

    Raises:
        ValueError: with the reason only; the caller knows which file it was.
    """
    if isinstance(data, np.ndarray):
        if data.dtype != np.uint8 or data.ndim != 3 or data.shape[2] != 3:
            raise ValueError(f'pixels must be uint8 [H, W, 3], got {data.dtype} {list(data.shape)}')
        return data
    if not len(data):
        raise ValueError('empty file, no image bytes')
    header = read_header(data)
    if header is None:
        raise ValueError(_say_what_it_is(bytes(data[:64])))
    kind, height, width = header
    if height * width > max_pixels:
        raise ValueError(f'{kind} that claims {width} x {height} = {width * height:,} pixels, more than max_pixels={max_pixels:,}: '
                         'not decoded')
    try:
        image = cv2.imdecode(np.frombuffer(data, np.uint8), _UPRIGHT if upright else _AS_STORED)
    except cv2.error as error:
        raise ValueError(f'{kind} that OpenCV refuses: {error.err or error}') from None
    if image is None:
        raise ValueError(f'{kind} that cannot be decoded: truncated or damaged')
    if image.dtype != np.uint8:
        image = _to_bytes(image, kind)
    return image if _GIVES_RGB else cv2.cvtColor(image, cv2.COLOR_BGR2RGB)


def _to_bytes(image: np.ndarray, kind: str) -> np.ndarray:
    if image.dtype != np.uint16:
        raise ValueError(f'{kind} with pixels of type {image.dtype}: expected 8 or 16 bits an element')
    return ((image.astype(np.uint32) + 128) // 257).astype(np.uint8)


def _say_what_it_is(start: bytes) -> str:
    for at, beginning, message in _FOREIGN:
        if start[at:].startswith(beginning):
            return message
    return f'not an image, it begins with {start[:12]!r}: expected JPEG, PNG, GIF, WebP, BMP, TIFF or PNM'
