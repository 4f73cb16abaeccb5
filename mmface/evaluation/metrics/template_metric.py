"""Protocols on templates during validation and testing."""
from typing import Any, ClassVar

from mmface.registry import METRICS

from ..protocols import IJBSIdentification, TemplateIdentification, TemplateVerification
from ..protocols.template_pooling import POOLING_PRESETS
from .protocol_metric import ProtocolMetric


@METRICS.register_module()
class TemplateMetric(ProtocolMetric):
    """``TemplateVerification``, ``TemplateIdentification`` or ``IJBSIdentification`` of a data set with ``metainfo['template_set']``.

    Args:
        protocol: its name.
        preset: how templates are pooled, a key of :data:`~mmface.evaluation.protocols.template_pooling.POOLING_PRESETS`; ``switches``
            override it.
        switches: arguments of the protocol and of :class:`ProtocolMetric`.
    """
    meta_key = 'template_set'
    protocols: ClassVar = {kind.__name__: kind for kind in (TemplateVerification, TemplateIdentification, IJBSIdentification)}

    def __init__(self, protocol: str = 'TemplateVerification', preset: str | None = None, **switches: Any) -> None:
        if preset not in (None, *POOLING_PRESETS):
            raise ValueError(f'there is no preset {preset!r}, known: {", ".join(POOLING_PRESETS)}')
        super().__init__(protocol, **(POOLING_PRESETS.get(preset or '', {}) | switches))
