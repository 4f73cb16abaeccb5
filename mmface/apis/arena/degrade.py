"""A test picture after a bad camera and a bad connection."""
import cv2
import numpy as np

SCALE, SIGMA, QUALITY = .25, .8, 30


class Degrade:
    """Downscales ``img``, blurs it, brings it back to its size and recompresses it as JPEG: always in the same way.

    Args:
        scale: side of the small image as a share of the image's.
        sigma: of the Gaussian blur, in pixels of the small image.
        quality: of the JPEG, 0 to 100.
    """
    draws_from: frozenset[str] = frozenset()

    def __init__(self, scale: float = SCALE, sigma: float = SIGMA, quality: int = QUALITY) -> None:
        self.scale, self.sigma, self.quality = scale, sigma, quality

    def __call__(self, results: dict) -> dict:
        image: np.ndarray = results['img']
        height, width = image.shape[:2]
        small = cv2.resize(image, (max(1, round(width * self.scale)), max(1, round(height * self.scale))), interpolation=cv2.INTER_AREA)
        blurred = cv2.GaussianBlur(small, (0, 0), self.sigma)
        large = cv2.resize(blurred, (width, height), interpolation=cv2.INTER_LINEAR)
        encoded = cv2.imencode('.jpg', cv2.cvtColor(large, cv2.COLOR_RGB2BGR), (cv2.IMWRITE_JPEG_QUALITY, self.quality))[1]
        results['img'] = cv2.cvtColor(cv2.imdecode(encoded, cv2.IMREAD_COLOR), cv2.COLOR_BGR2RGB)
        return results
