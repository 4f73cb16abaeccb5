"""Are red and blue where they should be?"""
import torch

from .step import Step


class ColourOrder:
    """Skin of every tone reflects more red than blue, and so do, on average, pictures of faces: if not, the two are swapped.

    Args:
        images: how many to look at before speaking.
    """

    def __init__(self, images: int = 256) -> None:
        self.images = images
        self._differences: list[torch.Tensor] = []

    def see(self, step: Step) -> str | None:
        if sum(map(len, self._differences)) >= self.images:
            return None
        height, width = step.images.shape[2:]
        middle = step.images[:, :, height // 4:height - height // 4, width // 4:width - width // 4].float().mean((2, 3))
        self._differences.append(middle[:, 0] - middle[:, 2])
        found = torch.cat(self._differences)
        if len(found) < self.images:
            return None
        mean, error = float(found.mean()), float(found.std()) / len(found)**.5
        if mean > -2 or mean > -5 * error:
            return None
        return (f'over {len(found)} images the first channel, which should be red, is on average {-mean:.0f} levels darker than the third, '
                'which should be blue: the images come as BGR. Pipelines give RGB: were the files written from RGB arrays by a library '
                'that takes BGR (cv2.imwrite)? If the network wants BGR, that is data_preprocessor.color')
