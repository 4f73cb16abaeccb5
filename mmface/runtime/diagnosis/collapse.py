"""Do embeddings still differ, and have they a length?"""
import torch
from torch.nn.functional import normalize

from .step import Step


class Collapse:
    """Looks, once every ``window`` steps, whether the embeddings of different people point the same way, or have lost their length.

    Args:
        window: steps.
    """

    def __init__(self, window: int = 100) -> None:
        self.window = window
        self._first_norm: float | None = None

    def see(self, step: Step) -> str | None:
        norm = float(step.embeddings.norm(dim=1).mean())
        if self._first_norm is None:
            self._first_norm = norm
        if step.number % self.window or len(step.embeddings) < 2:
            return None
        if norm < .01 * self._first_norm:
            return (f'the embeddings have lost their length: {norm:.3g} on average, {self._first_norm:.3g} at the start. Weight decay on '
                    'the last layers that nothing holds against, or a learning rate that is too high; losses on cosines do not notice')
        unit = normalize(step.embeddings)
        different = torch.triu(step.classes.unsqueeze(0) != step.classes.unsqueeze(1), 1)
        alike = float((unit @ unit.t())[different].mean()) if different.any() else 0.
        if alike > .95:
            return (f'the embeddings of different people all point the same way (mean cosine {alike:.3f}): one answer to every face. Lower '
                    'the learning rate, and check that images differ and are scaled as the network expects (mean, std)')
        return None
