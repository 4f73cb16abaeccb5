"""Does the loss go down at all?"""
from .first_loss import expected_first_loss
from .step import Step


class Plateau:
    """Compares the mean loss of one window of steps with that of the window before.

    Args:
        window: steps.
    """

    def __init__(self, window: int = 500) -> None:
        self.window = window
        self._sum, self._before = 0., float('inf')
        self._chance: float | None = None

    def see(self, step: Step) -> str | None:
        if self._chance is None:
            self._chance, _ = expected_first_loss(step.head, float(step.embeddings.norm(dim=1).mean()))
        self._sum += step.loss
        if step.number % self.window:
            return None
        mean, before = self._sum / self.window, self._before
        self._sum, self._before = 0., mean
        if mean < .99 * before or mean < .75 * self._chance:
            return None
        return (f'the loss has not gone down in {self.window} steps: {before:.4g}, then {mean:.4g}, and knowing nothing gives '
                f'{self._chance:.4g}. Try a tenth of the learning rate, or ten times of it; a warm-up; and a loss without margin '
                '(NormFaceLoss) first: if that learns, the margin or the scale is too much for the start')
