"""A network so small, and an embedding of so few dimensions, that it can be looked at."""
from typing import NamedTuple

import cv2
import numpy as np
import torch
from torch.nn.functional import normalize

from mmface.datasets.procedural import ProceduralFaces
from mmface.functional.equal_error_rate import equal_error_rate
from mmface.functional.roc import roc_curve
from mmface.models import FaceClsHead
from mmface.models.backbones import SevenLayerNet

SIDE = 32


class SphereResult(NamedTuple):
    """What a training has come to.

    Attributes:
        embeddings: unit ``[N, D]`` of the training images.
        labels: int64 ``[N]``.
        prototypes: unit ``[C, D]``.
        accuracy: share of embeddings whose nearest prototype is their own.
        own_angle: mean angle to the own prototype in degrees.
        separation: smallest angle between two prototypes in degrees.
        equal_error: of all pairs of embeddings at the one threshold where both errors are the same, as a fraction.
    """
    embeddings: np.ndarray
    labels: np.ndarray
    prototypes: np.ndarray
    accuracy: float
    own_angle: float
    separation: float
    equal_error: float


def draw_people(people: int, pictures: int, seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Procedural faces, floats ``[people * pictures, 3, SIDE, SIDE]`` in -1 ... 1, and their labels."""
    drawn = ProceduralFaces(seed)
    images = [cv2.resize(drawn.draw(person, picture)[0], (SIDE, SIDE), interpolation=cv2.INTER_AREA)
              for person in range(people) for picture in range(pictures)]  # yapf: disable
    floats = torch.from_numpy(np.stack(images)).permute(0, 3, 1, 2).float() / 127.5 - 1
    return floats.contiguous(), torch.arange(people).repeat_interleave(pictures)


def train_on_sphere(loss: dict, images: torch.Tensor, labels: torch.Tensor, dim: int = 3, steps: int = 400, seed: int = 0) -> SphereResult:
    """Trains the seven-layer network with a loss, SGD with momentum and a cosine schedule, and looks at the training images.

    Args:
        loss: config.
        images: see :func:`draw_people`.
        labels: int64, from 0.
        dim: D of the embedding, 2 or 3 to be drawn.
        steps: of 64 images.
        seed: of weights and batches.
    """
    torch.manual_seed(seed)
    network = SevenLayerNet(out_channels=dim, feat_size=SIDE // 8, width=16)
    head = FaceClsHead(int(labels.max()) + 1, dim, loss, init_std=1., seed=seed)
    optimizer = torch.optim.SGD([*network.parameters(), *head.parameters()], lr=.05, momentum=.9, weight_decay=5e-4)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    for _ in range(steps):
        batch = torch.randint(len(images), (64, ))
        optimizer.zero_grad()
        head.compute_loss(network(images[batch])[-1], labels[batch])['loss'].backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), 5.)
        optimizer.step()
        schedule.step()
    network.eval()
    with torch.no_grad():
        embeddings = normalize(torch.cat([network(part)[-1] for part in images.split(256)]).double())
    return _look(embeddings, labels, normalize(head.weight.detach().double()))


def _look(embeddings: torch.Tensor, labels: torch.Tensor, prototypes: torch.Tensor) -> SphereResult:
    cosine = embeddings @ prototypes.t()
    own = cosine.gather(1, labels.unsqueeze(1)).clamp(-1, 1).acos().rad2deg()
    between = (prototypes @ prototypes.t()).fill_diagonal_(-1).max().clamp(-1, 1).acos().rad2deg()
    first, second = torch.triu_indices(len(labels), len(labels), 1)
    scores, same = (embeddings @ embeddings.t())[first, second].numpy(), (labels[first] == labels[second]).numpy()
    return SphereResult(embeddings.numpy(), labels.numpy(), prototypes.numpy(), float((cosine.argmax(1) == labels).double().mean()),
                        float(own.mean()), float(between), equal_error_rate(roc_curve(scores[same], scores[~same])).cross)
