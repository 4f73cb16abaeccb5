"""The similarity from which on two faces are taken for one person's, and who says so."""
import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Threshold:
    """Accept where similarity >= value.

    Attributes:
        value: cosine similarity, -1 to 1.
        source: in words, where it comes from.
    """
    value: float
    source: str


def choose_threshold(metadata: dict, given: float | None = None, far: float | None = None) -> Threshold | None:
    """The threshold that the caller gave, or the one that the model file carries. There is no default: none is right for every network.

    Args:
        metadata: the ``mmface`` record of an ONNX file; ``{}`` for a file without.
        given: the caller's threshold.
        far: the false accept rate, as a fraction, whose threshold to take from the file (its ``far_target``).

    Returns:
        None where nobody says.

    Raises:
        ValueError: a threshold outside [-1, 1], both ways to choose at once, no entry for ``far``, or several entries and no ``far``.
    """
    if given is not None and far is not None:
        raise ValueError('--threshold and --far both choose a threshold: give one of them')
    if given is not None:
        if not -1 <= given <= 1:
            raise ValueError(f'--threshold is a cosine similarity, -1 to 1, got {given}')
        return Threshold(given, 'given by --threshold')
    entries = {entry['far_target']: entry for entry in metadata.get('thresholds', [])}
    known = ', '.join(f'{target:g}' for target in sorted(entries)) or 'none'
    if far is not None:
        entries = {target: entry for target, entry in entries.items() if math.isclose(target, far, rel_tol=1e-6)}
        if not entries:
            raise ValueError(f'the model file has no threshold for a false accept rate of {far:g}; it has: {known}')
    if len(entries) > 1:
        raise ValueError(f'the model file has thresholds for the false accept rates {known}: choose with --far')
    for target, entry in entries.items():
        return Threshold(float(entry['similarity']), f'in the model file, for a false accept rate of {target:g}')
    return None
