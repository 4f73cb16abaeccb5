"""Protocols and the metrics that run them."""
from .metrics import EmbeddingMetric, VerificationMetric
from .protocols import TenFoldVerification, hash_switches
from .summary import result_json, verification_summary

__all__ = ['EmbeddingMetric', 'TenFoldVerification', 'VerificationMetric', 'hash_switches', 'result_json', 'verification_summary']
