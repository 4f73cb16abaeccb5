"""The MMEngine side: metrics that gather embeddings and call one protocol each."""
from .embedding_metric import EmbeddingMetric
from .verification_metric import VerificationMetric

__all__ = ['EmbeddingMetric', 'VerificationMetric']
