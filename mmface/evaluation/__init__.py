"""Protocols and the metrics that run them."""
from .metrics import EmbeddingMetric, ProtocolMetric, SearchMetric, TemplateMetric, VerificationMetric
from .protocols import (
    POOLING_PRESETS,
    GroupedVerification,
    IJBSIdentification,
    LFWView1,
    MegaFaceIdentification,
    SCfaceIdentification,
    TemplateIdentification,
    TemplatePooling,
    TemplateVerification,
    TenFoldVerification,
    TinyFaceIdentification,
    hash_switches,
    paired_difference,
)
from .summary import result_json, result_summary
from .threshold_file import read_thresholds, threshold_record, write_thresholds

__all__ = [
    'POOLING_PRESETS', 'EmbeddingMetric', 'GroupedVerification', 'IJBSIdentification', 'LFWView1', 'MegaFaceIdentification',
    'ProtocolMetric', 'SCfaceIdentification', 'SearchMetric', 'TemplateIdentification', 'TemplateMetric', 'TemplatePooling',
    'TemplateVerification', 'TenFoldVerification', 'TinyFaceIdentification', 'VerificationMetric', 'hash_switches', 'paired_difference',
    'read_thresholds', 'result_json', 'result_summary', 'threshold_record', 'write_thresholds'
]
