"""From finished trainings to tables; nothing is trained here."""
import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from .arena_data import ArenaData
from .difference import Estimate, estimate
from .examiner import Examiner
from .experiments import Row, View
from .setting import Setting
from .train_one import RESULT
from .training import identity


@dataclass(frozen=True)
class Line:
    """What is known of a row.

    Attributes:
        label: of the row.
        status: ``'finished'``; ``'diverged'``, where a seed has; ``'missing'``, where a seed was not trained.
        seeds: how many finished.
        seconds: of a training, the mean.
        means: by measure; empty where none finished.
        differences: likewise, to the baseline; empty without one.
        trainings: their results.
    """
    label: str
    status: str
    seeds: int
    seconds: float
    means: dict[str, Estimate]
    differences: dict[str, Estimate]
    trainings: list[dict]


class Reporter:
    """Reads results and embeddings.

    Args:
        data: which the trainings had.
        setting: likewise.
        folder: of all trainings.
    """

    def __init__(self, data: ArenaData, setting: Setting, folder: Path) -> None:
        self.data, self.setting, self.folder = data, setting, folder
        self.examiner = Examiner(data, setting.replicates)

    def line(self, row: Row) -> Line:
        """Of one row. A difference is over the seeds that both sides finished."""
        own = self._finished(row.view)
        other = self._finished(row.baseline) if row.baseline else {}
        shared = sorted(own.keys() & other.keys())
        results = [result for seed in self.setting.seeds if (result := self._result(row.view, seed))]
        seconds = [result['seconds'] for result in results if result['seconds'] is not None]
        diverged = any(result['status'] == 'diverged' for result in results)
        return Line(
            row.label, 'diverged' if diverged else 'missing' if len(results) < len(self.setting.seeds) else 'finished', len(own),
            float(np.mean(seconds)) if seconds else math.nan, self._estimates([self._exam(row.view, seed) for seed in sorted(own)], None),
            self._estimates(*([self._exam(view, seed) for seed in shared] for view in (row.view, row.baseline))) if row.baseline else {},
            results)

    def _estimates(self, own: list[dict], other: list[dict] | None) -> dict[str, Estimate]:
        found = {}
        for measure in self.examiner.measures if own else ():
            values, draws = (np.array([getattr(exam[measure], part) for exam in own]) for part in ('value', 'draws'))
            if other is not None:
                values = values - [exam[measure].value for exam in other]
                draws = draws - [exam[measure].draws for exam in other]
            mean = estimate(values, draws)
            low, high = mean.interval
            found[measure] = mean if other is not None else mean._replace(interval=(max(low, 0.), min(high, 1.)))  # a share is one
        return found

    def _path(self, view: View, seed: int) -> Path:
        return self.folder / identity(view.recipe(seed), self.data, self.setting)

    def _result(self, view: View, seed: int) -> dict | None:
        path = self._path(view, seed) / RESULT
        return json.loads(path.read_text()) if path.is_file() else None

    def _finished(self, view: View) -> dict[int, dict]:
        found = {seed: self._result(view, seed) for seed in self.setting.seeds}
        return {seed: result for seed, result in found.items() if result and result['status'] == 'finished'}

    def _exam(self, view: View, seed: int) -> dict:
        return self.examiner.examine(self._path(view, seed) / view.file)


def hash_of_logs(lines: Sequence[Line]) -> str:
    """One SHA-256 over those of all logs."""
    logs = {result['identity']: result['logs'] for line in lines for result in line.trainings}
    return hashlib.sha256(json.dumps(logs, sort_keys=True).encode()).hexdigest()
