"""Is the first loss what random prototypes give?"""
import math

import torch

from mmface.models import FaceClsHead, Target

from .step import Step

ROWS, NEGATIVES = 512, 1024  #: how many are drawn to know what to expect


def expected_first_loss(head: FaceClsHead, feature_norm: float) -> tuple[float, float]:
    """Mean and standard deviation over samples of the loss where prototypes and features know nothing of each other.

    Cosines of random directions in D dimensions are N(0, 1 / sqrt(D)); of K centres the nearest counts.
    """
    prototype_norm = float(head.weight.detach().norm(dim=1).mean()) if len(head.weight) else 1.
    loss, generator = head.loss_module, torch.Generator().manual_seed(0)
    length = (loss.radius if loss.features == 'unit' else feature_norm) * (1. if loss.prototypes == 'unit' else prototype_norm)
    others = max(head.num_classes - 1, 1)
    shape = (head.num_centers, min(NEGATIVES, others) + 1, ROWS)
    similarity = torch.randn(shape, generator=generator).max(0).values * (length / math.sqrt(head.in_channels))
    own = next((t for t in (*loss.buffers(), *loss.parameters()) if t.is_floating_point()), similarity)
    similarity = similarity.to(own)
    training = loss.training
    loss.eval()
    try:
        with torch.no_grad():
            norms = torch.full_like(similarity[0], feature_norm)
            t = Target(similarity[0], norms, torch.full_like(norms, prototype_norm), lambda _: torch.full_like(norms, math.log(others)))
            spec = loss.prepare(t)
            S = None
            if spec is not None:
                z, times = spec(similarity[1:]), others / (len(similarity) - 1)
                S = z.logsumexp(0) + math.log(times) if spec.kind == 'lse' else z.sum(0) * times
            values = loss(t, S)
    finally:
        loss.train(training)
    return float(values.mean()), float(values.std())


class FirstLoss:
    """Compares the first step's loss with :func:`expected_first_loss`.

    Args:
        loaded: whether the weights come from a checkpoint: a loss below is then as it should be.
    """

    def __init__(self, loaded: bool) -> None:
        self.loaded = loaded

    def see(self, step: Step) -> str | None:
        if step.number > 1:
            return None
        expected, spread = expected_first_loss(step.head, float(step.embeddings.norm(dim=1).mean()))
        tolerance = max(.25 * expected, 4 * spread)
        said = f'the first loss is {step.loss:.4g}, and prototypes that know nothing of the faces give {expected:.4g}'
        if step.loss > expected + tolerance:
            return (f'{said}: it is worse than knowing nothing. ' +
                    ('The loaded prototypes are of other classes, or of the same in another order: let the head start afresh, or give the '
                     'data set the class order of the first training' if self.loaded else
                     'Features and prototypes are not independent, or the loss is not what it should be: look at init_std and at the loss'))
        if step.loss < expected - tolerance and not self.loaded:
            return f'{said}: too good for a start. Have features or prototypes almost no length? Were weights loaded without load_from?'
        return None
