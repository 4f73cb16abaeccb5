"""Do images with one label look more alike than others?"""
import torch
from torch.nn.functional import adaptive_avg_pool2d, normalize

from .step import Step

SIDE = 8


class ShuffledLabels:
    """Compares small grey pictures, of which two of one person are on average more alike than two of different people.

    A network that learns wrong labels by heart does not mislead it, since it does not look at embeddings.

    Args:
        images: how many with another image of the same label in memory to see before speaking.
        memory: how many images to remember. Where people return more rarely than that, no diagnosis is made.
    """

    def __init__(self, images: int = 400, memory: int = 8192) -> None:
        self.images, self.memory = images, memory
        self._pictures, self._labels = torch.empty(0, SIDE * SIDE), torch.empty(0, dtype=torch.int64)
        self._advantage: list[torch.Tensor] = []

    def see(self, step: Step) -> str | None:
        if sum(map(len, self._advantage)) >= self.images:
            return None
        counted = step.labels >= 0
        pictures, labels = _small(step.images[counted]), step.labels[counted]
        cosine, same = pictures @ self._pictures.t(), labels.unsqueeze(1) == self._labels
        has_both = same.any(1) & ~same.all(1)
        cosine, same = cosine[has_both], same[has_both]
        self._advantage.append((cosine * same).sum(1) / same.sum(1) - (cosine * ~same).sum(1) / (~same).sum(1))
        self._pictures = torch.cat([self._pictures, pictures])[-self.memory:]
        self._labels = torch.cat([self._labels, labels])[-self.memory:]
        found = torch.cat(self._advantage)
        if len(found) < self.images:
            return None
        z = float(found.mean() / (found.std() / len(found)**.5).clamp_min(1e-9))
        if z > 3:
            return None
        return (f'images with one label look no more alike than others ({len(found)} compared with earlier ones, {z:.1f} standard errors): '
                'the labels do not belong to the images. Were the list of files and the list of labels sorted or shuffled apart, or the '
                'index of the pack made for another file?')


def _small(images: torch.Tensor) -> torch.Tensor:
    """Grey pictures ``[B, SIDE * SIDE]``, without mean and contrast, and equal to their mirror images, since images may be flipped."""
    grey = adaptive_avg_pool2d(images.float().mean(1, keepdim=True), SIDE).squeeze(1)
    grey = (grey + grey.flip(2)).flatten(1)
    return normalize(grey - grey.mean(1, keepdim=True))
