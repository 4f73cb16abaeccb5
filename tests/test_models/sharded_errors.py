"""Bad input on one of several ranks that share the classes, and what each of them says to it."""
import torch

from mmface.registry import MODELS
from mmface.structures import FaceDataSample


def head(**arguments):
    config = dict(type='FaceClsHead', num_classes=9, in_channels=3, sharded=True, loss=dict(type='CosFaceLoss'))
    return MODELS.build(config | arguments)


def label(last):
    head().compute_loss(torch.randn(2, 3), torch.tensor([0, 9 if last else 8]))


def negative_label(last):
    head().compute_loss(torch.randn(2, 3), torch.tensor([-2 if last else -1, 8]))


def rows(last):
    head().compute_loss(torch.randn(2 + last, 3), torch.arange(2 + last))


def shape(last):
    head().compute_loss(torch.randn(2, 4 if last else 3), torch.arange(2))


def num_classes(last):
    head(num_classes=9 + last).compute_loss(torch.randn(2, 3), torch.arange(2))


def in_channels(last):
    head(in_channels=3 + last).compute_loss(torch.randn(2, 3 + last), torch.arange(2))


def num_centers(last):
    head(num_centers=1 + last).compute_loss(torch.randn(2, 3), torch.arange(2))


def weights(last):
    head().compute_loss(torch.randn(2, 3), torch.arange(2), torch.ones(2) if last else None)


def reduction(last):
    head().compute_loss(torch.randn(2, 3), torch.arange(2), reduction='sum' if last else 'mean')


def mode(last):
    head().train(not last).compute_loss(torch.randn(2, 3), torch.arange(2))


def dtype(last):
    head().compute_loss(torch.randn(2, 3, dtype=torch.bfloat16 if last else torch.float32), torch.arange(2))


def built_too_early(last):
    early = head()
    early._shards = 7 if last else early._shards
    early.compute_loss(torch.randn(2, 3), torch.arange(2))


def nobody_saves(_last):
    head().loss(torch.randn(2, 3), FaceDataSample(gt_label=torch.arange(2)))


#: What goes wrong, on the last rank only, and what everyone is told.
ERRORS = {
    label: r'label 9 of row 1 in the batch of rank 1 is outside \[0, 9\)',
    negative_label: 'label -2 of row 0 in the batch of rank 1',
    rows: r'ranks 0 to 1 disagree: the number of rows is \[2, 3\]',
    shape: r'needs embeddings \[B, 3\] and labels \[B\], got \[2, 4\] and \[2\] \(on rank 1\)',
    num_classes: r'num_classes is \[9, 10\]',
    in_channels: r'in_channels is \[3, 4\]',
    num_centers: r'num_centers is \[1, 2\]',
    weights: r'the number of weights is \[0, 2\]',
    reduction: r"reduction must be 'mean' or 'none', got 'sum' \(on rank 1\)",
    mode: r'training is \[1, 0\]',
    dtype: r'the size of a value is \[4, 2\]',
    built_too_early: r'was built as one of 7 shards and is used on 2 ranks: start the process group before',
    nobody_saves: "no hook saves the shards of all of them.*'AtomicCheckpointHook'",
}


def told(rank, world):
    """The message of each error on this rank, and the loss of a step after all of them."""
    messages = {}
    for error in ERRORS:
        try:
            error(rank == world - 1)
        except (ValueError, RuntimeError) as e:
            messages[error.__name__] = str(e)
    return dict(messages, afterwards=head().compute_loss(torch.ones(2, 3), torch.arange(2))['loss'])
