"""How good a picture is, asked of the picture alone."""
import math
import warnings

import numpy as np

from mmface.utils.dependency import require_extra

LEAST_SIDE = 80  #: pixels; of smaller procedural faces BRISQUE no longer says which have lost detail


class ImageQuality:
    """``1 - BRISQUE / 100`` of pictures: 1 is a pristine one, 0 a bad one; single pictures lie outside.

    BRISQUE (Mittal, Moorthy & Bovik, IEEE Transactions on Image Processing 21(12), 2012) asks how far the statistics of neighbouring pixels
    are from those of natural pictures. The numbers are those of the package ``brisque``, which brings the authors' regression with it: a
    grey copy at its own size and at half of it.

    Raises:
        ImportError: without the extra ``quality``.
    """

    def __init__(self) -> None:
        require_extra('brisque', "BRISQUE, a picture's quality,", 'quality')
        from brisque import BRISQUE

        class Brisque(BRISQUE):

            def scale_features(self, features: list) -> np.ndarray:
                # brisque 0.2.0 gives arrays of one number, which NumPy 2.4 no longer takes for numbers
                return super().scale_features([np.asarray(feature).item() for feature in features])

        self._brisque = Brisque()

    def __call__(self, image: np.ndarray) -> float:
        """Of RGB uint8 ``[H, W, 3]``; NaN for one without any contrast or smaller than :data:`LEAST_SIDE`: too few statistics."""
        if min(image.shape[:2]) < LEAST_SIDE:
            return math.nan
        with warnings.catch_warnings(), np.errstate(all='ignore'):
            warnings.simplefilter('ignore')
            return 1 - float(self._brisque.score(image)) / 100
