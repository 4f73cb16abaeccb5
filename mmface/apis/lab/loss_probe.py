"""A registered loss asked at chosen angles: everything by autograd, nothing by a formula of its own."""
import ast
import warnings
from typing import NamedTuple

import torch
from torch import Tensor

from mmface.models import FaceLoss, Target
from mmface.models.losses.softmax_form import is_softmax
from mmface.models.losses.statistics import Statistic
from mmface.registry import MODELS

NUM_CLASSES = 10572  #: CASIA-WebFace's
NORM = 20.  #: of the feature; prototypes have length 1
_FAR = 1e4  # so much more than any logit that the negatives win for certain


class Response(NamedTuple):
    """What a loss says to B rows, float64 ``[B]``.

    Attributes:
        loss: its value.
        scaling: dL/dcos of the target: the gradient scaling term g of AdaFace (Eq. 12) and, as -g, the length that P2SGrad compares.
        negative: the sum over the negatives of dL/dcos.
        wrong: dL/dS for the statistic S that the loss asks for; where it is a softmax, 1 - P of the target.
        slope: dlogit/dcos of the target, f' of P2SGrad (Eq. 5): dL/dcos with S held, over -dL/dS. Only a softmax has it; NaN otherwise.
    """
    loss: Tensor
    scaling: Tensor
    negative: Tensor
    wrong: Tensor
    slope: Tensor


class LossProbe:
    """A loss in eval mode and float64, with rows of one feature norm and prototypes of length 1.

    Args:
        config: of the loss. Besides its own arguments: ``norm``, that of the feature (default 20), and ``state``, values of buffers.
        num_classes: what the loss is told.

    Attributes:
        is_softmax: whether the loss has a probability, see :func:`~mmface.models.losses.softmax_form.is_softmax`.

    Raises:
        ValueError: for a buffer that the loss does not have.
    """

    def __init__(self, config: dict, num_classes: int = NUM_CLASSES) -> None:
        config = dict(config)
        self.norm, state = float(config.pop('norm', NORM)), config.pop('state', {})
        with warnings.catch_warnings():
            warnings.simplefilter('ignore')  # MagFace without its regulariser
            self.loss: FaceLoss = MODELS.build(dict(config, num_classes=num_classes)).double().eval()
        buffers = dict(self.loss.named_buffers())
        for name, value in state.items():
            if name not in buffers:
                raise ValueError(f'{type(self.loss).__name__} has no state {name!r}; it has {sorted(buffers) or "none"}')
            buffers[name].fill_(value)
        self.is_softmax = is_softmax(self.loss, self.norm)

    def target(self, cosine: Tensor, norm: Tensor | float | None = None) -> Target:
        """Rows at the cosines ``[B]`` to their prototypes; ``norm`` ``[B]`` or one for all."""
        norms = torch.zeros_like(cosine) + (self.norm if norm is None else norm)
        length = self._length(norms.detach())
        return Target(cosine * length, norms, torch.ones_like(cosine), statistic=lambda _: torch.zeros_like(cosine))

    def __call__(self, target: Tensor, negatives: Tensor, counts: Tensor | float = 1., norm: Tensor | float | None = None) -> Response:
        """Asks the loss.

        Args:
            target: cosines ``[B]`` to the own prototype.
            negatives: cosines ``[B, N]`` to others.
            counts: how many classes each of the N stands for, ``[N]`` or one number.
            norm: of the features, ``[B]`` or one number, if not that of the config.
        """
        cosine, others = target.detach().double().requires_grad_(), negatives.detach().double().requires_grad_()
        t = self.target(cosine, norm)
        spec = self.loss.prepare(t)
        if spec is None:
            raise ValueError(f'{type(self.loss).__name__} asks for no statistic of the negatives: it has no curve over angles')
        S = _statistic(spec, others * self._length(t.feature_norm.detach()).unsqueeze(1), torch.as_tensor(counts, dtype=torch.float64))
        loss = self.loss(t, S)
        scaling, negative, wrong = _derivatives(loss, (cosine, others, S))
        held = S.detach().requires_grad_()
        fixed, = _derivatives(self.loss(t, held), (cosine, ))
        slope = -fixed / wrong if self.is_softmax else torch.full_like(fixed, torch.nan)
        return Response(loss.detach(), scaling, negative.sum(1), wrong, slope)

    def satisfied(self, target: Tensor, negatives: Tensor, counts: Tensor | float = 1.) -> Tensor:
        """How far on its own side of the decision boundary the loss takes each row to be, ``[B]`` in [-1/2, 1/2]; 0 on the boundary.

        1/2 minus the part of its full pull with which the loss still pulls the target. A softmax: P - 1/2. Otherwise the pull is full where
        the negatives win or, for a pull that does not depend on them (GB-CosFace at alpha = 1), where the target's cosine is -1.

        Raises:
            ValueError: for losses without competition between classes (P2SGrad, and those that judge each class for itself).
        """
        cosine = target.detach().double().requires_grad_()
        t = self.target(cosine)
        spec = self.loss.prepare(t)
        if spec is None or spec.kind != 'lse':
            raise ValueError(f'{type(self.loss).__name__} judges each class for itself: it has no boundary between classes')
        others = negatives.double() * self._length(t.feature_norm.detach()).unsqueeze(1)
        S = _statistic(spec, others, torch.as_tensor(counts, dtype=torch.float64)).detach()
        if self.is_softmax:
            return .5 - self._wrong(t, S)
        pull, = _derivatives(self.loss(t, S), (cosine, ))
        full, = _derivatives(self.loss(self.target(cosine), torch.full_like(S, _FAR)), (cosine, ))
        if torch.allclose(pull, full):
            worst = torch.full_like(target.double(), -1.).requires_grad_()
            full, = _derivatives(self.loss(self.target(worst), S), (worst, ))
        return .5 - pull / full

    def _length(self, norms: Tensor) -> Tensor:
        return torch.full_like(norms, self.loss.radius) if self.loss.features == 'unit' else norms

    def _wrong(self, t: Target, S: Tensor) -> Tensor:
        S = S.detach().requires_grad_()
        return _derivatives(self.loss(t, S), (S, ))[0]


def parse_loss(text: str) -> dict:
    """``Name`` or ``dict(type='Name', key=literal, ...)`` to a config.

    Raises:
        ValueError: for anything else; the text is not run.
    """
    if text.isidentifier():
        return dict(type=text)
    try:
        call = ast.parse(text.strip(), mode='eval').body
        if isinstance(call, ast.Call) and not call.args and getattr(call.func, 'id', '') == 'dict':
            config = {keyword.arg: _literal(keyword.value) for keyword in call.keywords}
            if isinstance(config.get('type'), str):
                return config
    except (SyntaxError, ValueError):
        pass
    raise ValueError(f'{text!r} is no loss: expected its name, or "dict(type=\'CosFaceLoss\', m=.3)" with plain values')


def loss_name(config: dict) -> str:
    """A config in few words, for a legend."""
    settings = {**{key: value for key, value in config.items() if key not in ('type', 'state')}, **config.get('state', {})}
    words = [f'{key} {value:g}' if isinstance(value, float) else f'{key} {value}' for key, value in settings.items()]
    return config['type'] + (f' ({", ".join(words)})' if words else '')


def _literal(node: ast.expr) -> object:
    """A plain value; ``dict(key=value)`` is one too."""
    if isinstance(node, ast.Call) and getattr(node.func, 'id', '') == 'dict' and not node.args:
        return {keyword.arg: _literal(keyword.value) for keyword in node.keywords}
    return ast.literal_eval(node)


def _statistic(spec: Statistic, similarity: Tensor, counts: Tensor) -> Tensor:
    """S ``[B]`` of negatives ``[B, N]``, each standing for so many classes."""
    z = spec(similarity.t())  # engines are class-major: parameters of the rows are [B]
    counts = counts.expand(len(z)).unsqueeze(1)
    return (z + counts.log()).logsumexp(0) if spec.kind == 'lse' else (z * counts).sum(0)


def _derivatives(values: Tensor, inputs: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    """Of each value in its own row of each input; 0 where it does not depend on it."""
    found = torch.autograd.grad(values.sum(), inputs, allow_unused=True, retain_graph=True)
    return tuple(torch.zeros_like(x) if gradient is None else gradient for x, gradient in zip(inputs, found, strict=True))
