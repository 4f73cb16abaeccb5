"""What is wrong with a batch that a head is given."""
from torch import Tensor


def shape_problem(head: str, in_channels: int, embeddings: Tensor, labels: Tensor, weight: Tensor | None, reduction: str) -> str | None:
    """Says which argument of a head's ``compute_loss`` does not fit, or None; ``head`` is its name."""
    if reduction not in ('mean', 'none'):
        return f"reduction must be 'mean' or 'none', got {reduction!r}"
    if embeddings.ndim != 2 or embeddings.shape[1] != in_channels or labels.shape != embeddings.shape[:1]:
        return (f'{head} needs embeddings [B, {in_channels}] and labels [B], got {list(embeddings.shape)} and {list(labels.shape)}')
    if weight is not None and weight.shape != labels.shape:
        return f'{head} needs weights [B] of the samples, got {list(weight.shape)} for labels {list(labels.shape)}'
    return None


def check_range(labels: Tensor, num_classes: int, ranks: int = 1) -> None:
    """Raises a ValueError that names the first label outside [-1, num_classes); rows lie as ``gathered`` leaves them."""
    outside = (labels < -1) | (labels >= num_classes)
    if outside.any():
        at = int(outside.nonzero()[0])
        row, rank = divmod(at, ranks)
        where = f'row {row} in the batch' + (f' of rank {rank}' if ranks > 1 else '')
        raise ValueError(f'label {int(labels[at])} of {where} is outside [0, {num_classes}) (and not -1, "ignore"): '
                         'num_classes of the head and the training set disagree')
