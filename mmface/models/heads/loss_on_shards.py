"""A loss, as the engine of one shard of the classes sees it."""
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call

from mmface.functional.collective_chain import CollectiveChain

from ..losses.face_loss import FaceLoss, Target
from ..losses.statistics import Statistic


class LossOnShards:
    """Stands in for a loss in front of an engine that knows the classes of one rank only.

    What an engine says of the target and of the negatives is that of its classes. Two vectors cross the ranks before the loss sees them:
    the target's similarity (and norm), which one rank knows, and the statistic, of which all have a part. The loss then computes the same
    on all ranks. What it learns itself gets its whole gradient on all of them.

    Args:
        loss: the loss.
        chain: through which the ranks exchange vectors.
    """

    def __init__(self, loss: FaceLoss, chain: CollectiveChain) -> None:
        self._loss, self._chain = loss, chain
        learned = {name: p for name, p in loss.named_parameters() if p.requires_grad}
        self._parameters = dict(zip(learned, chain.parameters(*learned.values()), strict=True))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loss, name)

    def prepare(self, t: Target) -> Statistic | None:
        """The loss's, told the target of all ranks."""
        similarity, prototype_norm = self._chain.sum(t.similarity, t.prototype_norm)
        detached = torch.no_grad()(lambda spec: self._merged(spec, t.statistic(spec)))
        self._target = Target(similarity, t.feature_norm, prototype_norm, detached)
        parameters = {f'loss.{name}': p for name, p in self._parameters.items()}
        self._spec = functional_call(_Prepare(self._loss), parameters, (self._target, ))
        return self._spec

    def __call__(self, _target: Target, S: Tensor | None) -> Tensor:
        """The loss's ``[B]``, given the statistic of all ranks in place of that of one."""
        if S is not None:
            S = self._merged(self._spec, S)
        return self._chain.shared(functional_call(self._loss, self._parameters, (self._target, S)))

    def _merged(self, spec: Statistic, S: Tensor) -> Tensor:
        return self._chain.logsumexp(S) if spec.kind == 'lse' else self._chain.sum(S)[0]


class _Prepare(nn.Module):
    """``loss.prepare`` as a module's call, for which parameters can be replaced."""

    def __init__(self, loss: FaceLoss) -> None:
        super().__init__()
        self.loss = loss

    def forward(self, t: Target) -> Statistic | None:
        return self.loss.prepare(t)
