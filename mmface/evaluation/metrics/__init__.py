"""The MMEngine side: metrics that gather embeddings and call one protocol each."""
from .embedding_metric import EmbeddingMetric
from .protocol_metric import ProtocolMetric
from .search_metric import SearchMetric
from .template_metric import TemplateMetric
from .verification_metric import VerificationMetric

__all__ = ['EmbeddingMetric', 'ProtocolMetric', 'SearchMetric', 'TemplateMetric', 'VerificationMetric']
