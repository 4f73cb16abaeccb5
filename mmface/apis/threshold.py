"""The similarity from which on two faces are taken for one person's, and who says so."""
import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Threshold:
    """Accept where similarity >= value.

    Attributes:
        value: cosine similarity, -1 to 1.
        source: in words, where it comes from.
        far: the share of pairs of different people that it accepted where it was found; None where nobody measured.
    """
    value: float
    source: str
    far: float | None = None

    def false_alarm_rate(self, comparisons: int) -> float | None:
        """The chance that somebody who is not among so many photos is taken for one of them, comparisons taken as independent."""
        return None if self.far is None else 1 - (1 - self.far)**comparisons


def choose_threshold(record: dict, given: float | None = None, far: float | None = None, where: str = 'the model file') -> Threshold | None:
    """The threshold that the caller gave, or the one that a file carries. There is no default: none is right for every network.

    Entries for a false accept rate that their impostors could not resolve are not taken.

    Args:
        record: the ``mmface`` record of an ONNX file, ``{}`` for a file without, or that of a ``threshold.json``.
        given: the caller's threshold.
        far: the false accept rate, as a fraction, whose threshold to take from the file (its ``far_target``).
        where: what the file is called in words.

    Returns:
        None where nobody says.

    Raises:
        ValueError: a threshold outside [-1, 1], both ways to choose at once, no entry for ``far`` or one that was not resolved, or several
            entries and no ``far``.
    """
    if given is not None and far is not None:
        raise ValueError('--threshold and --far both choose a threshold: give one of them')
    if given is not None:
        if not -1 <= given <= 1:
            raise ValueError(f'--threshold is a cosine similarity, -1 to 1, got {given}')
        return Threshold(given, 'given by --threshold')
    entries = {entry['far_target']: entry for entry in record.get('thresholds', [])}
    known = ', '.join(f'{target:g}' for target in sorted(entries)) or 'none'
    if far is not None:
        entries = {target: entry for target, entry in entries.items() if math.isclose(target, far, rel_tol=1e-6)}
        if not entries:
            raise ValueError(f'{where} has no threshold for a false accept rate of {far:g}; it has: {known}')
    resolved = {target: entry for target, entry in entries.items() if entry.get('resolvable', True)}
    if far is not None and not resolved:
        raise ValueError(f'{where}: {next(iter(entries.values()))["impostors"]} impostors are too few for a false accept rate of {far:g}')
    if len(resolved) > 1:
        raise ValueError(f'{where} has thresholds for the false accept rates {known}: choose with --far')
    for target, entry in resolved.items():
        return Threshold(float(entry['similarity']), f'in {where}, for a false accept rate of {target:g}', entry.get('far'))
    return None
