"""Says in words why a training fails, and stops one that can only get worse."""
from collections.abc import Sequence
from logging import WARNING
from pathlib import Path
from typing import Any

import torch
from mmengine.dist import all_reduce
from mmengine.hooks import Hook
from mmengine.logging import print_log
from mmengine.model import is_model_wrapper
from mmengine.runner import Runner
from torch import Tensor

from mmface.registry import HOOKS
from mmface.structures import FaceDataSample

from ..diagnosis import Check, Collapse, ColourOrder, FirstLoss, Plateau, ShuffledLabels, Step
from ..diagnosis.step_dump import NonFiniteError, write_step


@HOOKS.register_module()
class TrainingDiagnosisHook(Hook):
    """Watches a training of a recognizer with a head; rank 0's batches.

    Each of these gets its own warning, once: a first loss that random prototypes do not give, red and blue swapped, labels that do not
    belong to the images, a loss that does not go down, embeddings that collapse. A gradient that is not finite stops the training before
    the weights take it, with a dump of the step that ``tools/analysis/replay_step.py`` runs again to name the layer where it begins; an
    overflow that a gradient scaler skips is none.

    It waits for the device in each step: for finding a fault, not for every long training.

    Args:
        plateau: steps in which the loss should have gone down.
        images: how many to look at before anything is said of colours; of labels, after as many again.
        collapse: steps between two looks at the embeddings.

    Attributes:
        diagnoses: what was said so far, by the name of the check.
    """
    priority = 'LOW'

    def __init__(self, plateau: int = 500, images: int = 256, collapse: int = 100) -> None:
        for name, value in dict(plateau=plateau, images=images, collapse=collapse).items():
            if value < 1:
                raise ValueError(f'TrainingDiagnosisHook: {name} must be at least 1, got {value}')
        self.plateau, self.images, self.collapse = plateau, images, collapse
        self.diagnoses: dict[str, str] = {}

    def before_train(self, runner: Runner) -> None:
        model = runner.model.module if is_model_wrapper(runner.model) else runner.model
        self._head = model.head
        self._head.engine.register_forward_pre_hook(self._see_classes)
        loaded = bool(runner._load_from or runner._resume)
        self.checks: Sequence[Check] = (FirstLoss(loaded), ColourOrder(self.images), ShuffledLabels(2 * self.images), Plateau(self.plateau),
                                        Collapse(self.collapse))  # yapf: disable
        self._started, self._runner = runner.iter, runner
        runner.optim_wrapper.optimizer.register_step_pre_hook(self._before_step)

    def before_train_iter(self, runner: Runner, batch_idx: int, data_batch: Any = None) -> None:
        self._rows: tuple[Tensor, Tensor] | None = None
        self._batch = data_batch
        self._loss_state = {name: value.clone() for name, value in self._head.loss_module.state_dict().items()}

    def after_train_iter(self, runner: Runner, batch_idx: int, data_batch: Any = None, outputs: dict | None = None) -> None:
        if runner.rank != 0 or self._rows is None:
            return
        inputs, samples = data_batch['inputs'], data_batch['data_samples']
        images = inputs if isinstance(inputs, Tensor) else torch.stack(tuple(inputs))
        embeddings, classes = (rows.cpu() for rows in self._rows)
        loss = float(torch.as_tensor((outputs or {}).get('loss', torch.nan)).detach())
        step = Step(runner.iter + 1 - self._started, images.cpu(), FaceDataSample.batch(samples).gt_label.cpu(), embeddings, classes, loss,
                    self._head)  # yapf: disable
        for check in self.checks:
            name = type(check).__name__
            if name not in self.diagnoses and (words := check.see(step)):
                self.diagnoses[name] = words
                print_log(f'Diagnosis ({name}), iteration {runner.iter + 1}: {words}', 'current', WARNING)

    def _see_classes(self, _engine: torch.nn.Module, inputs: tuple) -> None:
        if getattr(self, '_rows', None) is None:
            self._rows = inputs[0].detach(), inputs[1]

    def _before_step(self, optimizer: torch.optim.Optimizer, _args: tuple, _kwargs: dict) -> None:
        """Before the optimiser takes the gradients."""
        named = {p: name for name, p in self._runner.model.named_parameters()}
        gradients = {named[p]: p.grad for group in optimizer.param_groups for p in group['params'] if p.grad is not None}
        norms = torch.stack([(g._values() if g.is_sparse else g).norm() for g in gradients.values()])
        wrong = (~norms.isfinite()).any().to(torch.int32)
        all_reduce(wrong, op='max')  # all ranks stop together
        if not wrong:
            return
        where = [name for name, norm in zip(gradients, norms, strict=True) if not norm.isfinite()]
        path = Path(self._runner.work_dir) / f'nonfinite_iter_{self._runner.iter + 1}_rank_{self._runner.rank}.pth'
        write_step(path, self._runner, self._batch, self._loss_state)
        place = f'in {len(where)} parameters, such as {where[0]}' if where else 'on another rank'
        raise NonFiniteError(f'iteration {self._runner.iter + 1}: gradients are not finite {place}; the weights are those before the step. '
                             f'"tools/analysis/replay_step.py CONFIG {path}" takes it again and names the layer where it begins')
