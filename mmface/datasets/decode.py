"""From encoded bytes to pixels, by one rule for every kind of image."""
import cv2
import numpy as np

# Without IMREAD_ANYDEPTH OpenCV would cut 16 bits to 8 by shifting.
_FLAGS = cv2.IMREAD_COLOR | cv2.IMREAD_ANYDEPTH | cv2.IMREAD_IGNORE_ORIENTATION
_HEIC = (b'ftypheic', b'ftypheix', b'ftypmif1', b'ftypmsf1', b'ftyphevc')


def decode_image(data: bytes | bytearray | memoryview) -> np.ndarray:
    """Decodes an image by its content, whatever its file was called.

    Grey gives three equal channels, a palette is expanded, CMYK is converted, alpha is dropped, 16 bits are divided by 257 and rounded. The
    EXIF orientation is ignored, as everybody who packed aligned crops assumed.

    Returns:
        uint8 ``[H, W, 3]``, RGB.

    Raises:
        ValueError: with the reason only; the caller knows which file it was.
    """
    buffer = np.frombuffer(data, np.uint8)
    if not buffer.size:
        raise ValueError('empty file, no image bytes')
    start = buffer[:12].tobytes()
    try:
        image = cv2.imdecode(buffer, _FLAGS)
    except cv2.error as error:
        raise ValueError(f'refused by OpenCV: {error.err or error}') from None
    if image is None:
        if start.startswith((b'\xff\xd8\xff', b'\x89PNG')):
            raise ValueError('cannot be decoded: truncated or damaged')
        if start[4:] in _HEIC:
            raise ValueError('HEIC, which OpenCV does not read: convert it to JPEG or PNG')
        raise ValueError(f'not an image, it begins with {start!r}')
    if image.dtype == np.uint16:
        image = ((image.astype(np.uint32) + 128) // 257).astype(np.uint8)
    if image.dtype != np.uint8:
        raise ValueError(f'pixels of type {image.dtype}: expected 8 or 16 bits an element')
    return cv2.cvtColor(image, cv2.COLOR_BGR2RGB)
