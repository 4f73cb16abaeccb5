"""Pure protocols: a set and raw embeddings in, numbers out."""
from .switches import hash_switches
from .ten_fold_verification import TenFoldVerification

__all__ = ['TenFoldVerification', 'hash_switches']
