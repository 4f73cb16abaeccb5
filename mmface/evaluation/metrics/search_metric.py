"""Protocols on searches during validation and testing."""
from typing import ClassVar

from mmface.registry import METRICS

from ..protocols import MegaFaceIdentification, SCfaceIdentification, TinyFaceIdentification
from .protocol_metric import ProtocolMetric


@METRICS.register_module()
class SearchMetric(ProtocolMetric):
    """``TinyFaceIdentification``, ``MegaFaceIdentification`` or ``SCfaceIdentification`` of a data set with ``metainfo['search_set']``.

    The arguments are those of :class:`ProtocolMetric` and of the protocol.
    """
    meta_key = 'search_set'
    protocols: ClassVar = {kind.__name__: kind for kind in (TinyFaceIdentification, MegaFaceIdentification, SCfaceIdentification)}
