"""What the papers plot over a training: angles, probability, gradient length, feature norm, and the loss's own state."""
import json
from functools import partial
from pathlib import Path
from typing import Any

import torch
from mmengine.dist import is_main_process
from mmengine.hooks import Hook
from mmengine.model import is_model_wrapper
from mmengine.runner import Runner
from torch import Tensor
from torch.utils.hooks import RemovableHandle

from mmface.functional.unit import unit
from mmface.models.losses.face_loss import FaceLoss, Target
from mmface.models.losses.softmax_form import is_softmax
from mmface.registry import HOOKS
from mmface.utils.atomic_file import atomic_file

PERCENTILES = (5, 25, 50, 75, 95)
NAME = 'training_curves.jsonl'


@HOOKS.register_module()
class TrainingCurvesHook(Hook):
    """Records every ``interval`` iterations what the loss saw and how hard it pulled, from the very step that was taken.

    Of the batch's rows (of a sharded head: those of all ranks; else rank 0's), each with ``mean`` and the percentiles 5, 25, 50, 75 and 95:

    - ``theta_y`` and ``theta_j``, the angles in degrees to the own and to other prototypes;
    - ``probability``, P of the own class, where the loss is a softmax;
    - ``gradient``, |dL/dcos| of the target, taken from the backward pass;
    - ``feature_norm``;

    and ``state``: the loss's buffers and learned scalars. Means go to the visualiser as ``curves/...``, everything to
    ``training_curves.jsonl`` in the work directory, a JSON object a line, which tools/analysis/curves.py draws. A resumed training cuts the
    file back to where it goes on.

    After P2SGrad (CVPR 2019), Fig. 3, 5 and 9.

    Args:
        interval: iterations between two records, at least 1.
        negatives: how many prototypes ``theta_j`` looks at: drawn anew each time, from a generator of its own.
    """
    priority = 'LOW'

    def __init__(self, interval: int = 50, negatives: int = 1000) -> None:
        if interval < 1 or negatives < 1:
            raise ValueError(f'TrainingCurvesHook: interval and negatives must be at least 1, got {interval} and {negatives}')
        self.interval, self.negatives = interval, negatives
        self._handles: list[RemovableHandle] = []
        self._seen: dict[str, Tensor] = {}

    def before_train(self, runner: Runner) -> None:
        model = runner.model.module if is_model_wrapper(runner.model) else runner.model
        self._head = model.head
        self._path = Path(runner.work_dir) / NAME
        self._softmax = is_softmax(self._head.loss_module)
        if is_main_process():
            _cut_back(self._path, runner.iter)

    def before_train_iter(self, runner: Runner, batch_idx: int, data_batch: Any = None) -> None:
        if (runner.iter + 1) % self.interval == 0:
            self._seen = {}
            number = runner.iter + 1
            self._handles = [self._head.engine.register_forward_pre_hook(partial(self._see_classes, number)),
                             self._head.loss_module.register_forward_hook(self._see_loss)]  # yapf: disable

    def after_train_iter(self, runner: Runner, batch_idx: int, data_batch: Any = None, outputs: dict | None = None) -> None:
        if not self._handles:
            return
        for handle in self._handles:
            handle.remove()
        self._handles = []
        if not is_main_process() or not self._seen:
            return
        found = {name: _summary(values) for name, values in self._seen.items()}
        loss = self._head.loss_module
        state = {name: float(value.detach()) for name, value in (*loss.named_buffers(), *loss.named_parameters()) if value.numel() == 1}
        for name, value in {**{name: summary['mean'] for name, summary in found.items()}, **state}.items():
            runner.visualizer.add_scalar(f'curves/{name}', value, runner.iter + 1)
        with self._path.open('a') as file:
            file.write(json.dumps(dict(iter=runner.iter + 1, **found, state=state)) + '\n')

    def _see_classes(self, number: int, _engine: torch.nn.Module, inputs: tuple) -> None:
        """Before the first pass over the classes."""
        if 'theta_j' in self._seen:
            return
        embeddings, labels, weight, bias, *_ = inputs
        self._bias = 0. if bias is None else bias.detach()[labels]
        rows = torch.randint(max(len(weight), 1), (self.negatives, ), generator=torch.Generator().manual_seed(number)).to(weight.device)
        cosine = unit(embeddings.detach())[0] @ unit(weight.detach()[rows[:self.negatives * (len(weight) > 0)]])[0].t()
        self._seen['theta_j'] = _degrees(cosine[labels.unsqueeze(1) != rows[:cosine.shape[1]] // self._head.num_centers])

    def _see_loss(self, loss: FaceLoss, inputs: tuple[Target, Tensor | None], losses: Tensor) -> None:
        """After the first time in the step that the loss is asked; gradients come later, when it is differentiated."""
        if 'theta_y' in self._seen:
            return
        t, S = inputs
        features = loss.radius if loss.features == 'unit' else t.feature_norm.detach()
        length = features * (1. if loss.prototypes == 'unit' else t.prototype_norm.detach())
        self._seen['theta_y'] = _degrees((t.similarity.detach() - self._bias) / length)
        self._seen['feature_norm'] = t.feature_norm.detach()
        if losses.requires_grad and t.similarity.requires_grad:
            ratio = _Ratio(losses)
            t.similarity.register_hook(lambda gradient: self._seen.update(gradient=(ratio(gradient) * length).abs()))
            if self._softmax and S is not None and S.requires_grad:
                S.register_hook(lambda gradient: self._seen.update(probability=1 - ratio(gradient)))


class _Ratio:
    """Gradients that come out of a loss over those that went into it: derivatives of the loss itself, whatever it was scaled by."""

    def __init__(self, losses: Tensor) -> None:
        losses.register_hook(self._keep)

    def _keep(self, gradient: Tensor) -> None:
        self.gradient = gradient

    def __call__(self, gradient: Tensor) -> Tensor:
        return gradient / self.gradient


def _degrees(cosine: Tensor) -> Tensor:
    return cosine.clamp(-1, 1).acos().rad2deg()


def _summary(values: Tensor) -> dict[str, float]:
    """Mean and percentiles of the finite ones; of none, NaN."""
    values = values[values.isfinite()].double().cpu()
    shares = torch.tensor(PERCENTILES, dtype=torch.float64) / 100
    quantiles = values.quantile(shares) if len(values) else torch.full_like(shares, torch.nan)
    return dict(mean=float(values.mean()), **{f'p{percent}': float(q) for percent, q in zip(PERCENTILES, quantiles, strict=True)})


def _cut_back(path: Path, iteration: int) -> None:
    """Drops records after ``iteration``, and a last line that was cut off; of a training from its start all."""
    if not path.is_file():
        return
    kept = [line for line in path.read_text().splitlines(keepends=True) if line.endswith('\n') and json.loads(line)['iter'] <= iteration]
    with atomic_file(path) as file:
        file.write(''.join(kept).encode())
