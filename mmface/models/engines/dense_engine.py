"""The plain form of the pass over the classes: readable autograd, the reference that every other engine is tested against."""
import torch
from torch import Tensor

from mmface.functional.unit import unit
from mmface.registry import MODELS

from ..losses.face_loss import FaceLoss, Target
from ..losses.statistics import Statistic
from .engine import Engine
from .plan import Mix


@MODELS.register_module()
class DenseEngine(Engine):
    """Materialises all similarities, class-major ``[C, B]``, and lets autograd do the rest."""

    def forward(self,
                embeddings: Tensor,
                labels: Tensor,
                weight: Tensor,
                bias: Tensor | None,
                loss: FaceLoss,
                num_centers: int = 1,
                mix: Mix | None = None) -> tuple[Target, Tensor | None]:
        if len(weight) == 0:
            return self.without_classes(embeddings, loss)
        if mix is not None:
            weight = mix(weight, torch.arange(len(weight), device=weight.device))
        unit_features, feature_norm = unit(embeddings)
        unit_weight, weight_norm = unit(weight)
        features = unit_features * loss.radius if loss.features == 'unit' else embeddings
        prototypes = unit_weight if loss.prototypes == 'unit' else weight

        similarity, center = (prototypes @ features.t()).view(len(weight) // num_centers, num_centers, len(embeddings)).max(1)
        if bias is not None:
            similarity = similarity + bias.unsqueeze(1)
        is_target = torch.arange(len(similarity), device=labels.device).unsqueeze(1) == labels
        here, row = labels >= 0, labels.clamp_min(0).unsqueeze(0)

        def statistic(spec: Statistic, similarity: Tensor = similarity) -> Tensor:
            # The target is taken out before z (whose slope may be infinite there) and again after it (where it must not count).
            z = spec(similarity.masked_fill(is_target, 0.))
            if spec.kind == 'sum':
                return z.masked_fill(is_target, 0.).sum(0)
            return z.masked_fill(is_target, -torch.inf).logsumexp(0)

        target = Target(
            similarity=similarity.gather(0, row).squeeze(0).where(here, 0.),
            feature_norm=feature_norm,
            prototype_norm=weight_norm[(row * num_centers + center.gather(0, row)).squeeze(0)].where(here, 0.),
            statistic=lambda spec: statistic(spec, similarity.detach()).detach())
        spec = loss.prepare(target)
        return target, None if spec is None else statistic(spec)
