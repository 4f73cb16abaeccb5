"""From finished trainings to tables; nothing is trained here."""
import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from mmface.datasets.formats import DataFormatError

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
        compared: how many the baseline finished too; 0 without one.
        seconds: of a training, the mean.
        means: by measure; empty where none finished.
        differences: likewise, to the baseline; empty without one.
        trainings: their results.
    """
    label: str
    status: str
    seeds: int
    compared: int
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
        self._name = lru_cache(maxsize=None)(lambda recipe, seed: identity(recipe(seed), data, setting))
        self._result = lru_cache(maxsize=None)(self._read)

    def line(self, row: Row) -> Line:
        """Of one row. A difference is over the seeds that both sides finished."""
        results = [result for seed in self.setting.seeds if (result := self._result(self._path(row.view, seed)))]
        diverged = any(result['status'] == 'diverged' for result in results)
        seconds = [result['seconds'] for result in results if result['seconds'] is not None]
        own = self._exams(row.view)
        other = self._exams(row.baseline) if row.baseline else {}
        shared = sorted(own.keys() & other.keys())
        return Line(
            label=row.label,
            status='diverged' if diverged else 'missing' if len(results) < len(self.setting.seeds) else 'finished',
            seeds=len(own),
            compared=len(shared),
            seconds=float(np.mean(seconds)) if seconds else math.nan,
            means=self._estimates(list(own.values()), None),
            differences=self._estimates([own[seed] for seed in shared], [other[seed] for seed in shared]),
            trainings=results)

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
        return self.folder / self._name(view.recipe, seed)

    @staticmethod
    def _read(path: Path) -> dict | None:
        """A training's result, if it has ended; its embeddings must be those that it names."""
        if not (path / RESULT).is_file():
            return None
        result: dict = json.loads((path / RESULT).read_text())
        for name, sha256 in result['embeddings'].items():
            if hashlib.sha256((path / name).read_bytes()).hexdigest() != sha256:
                raise DataFormatError(path / name, value='not the embeddings of this training',
                                      hint='remove the folder to have it trained again')
        return result

    def _exams(self, view: View) -> dict[int, dict]:
        """By seed, of those that finished."""
        paths = {seed: self._path(view, seed) for seed in self.setting.seeds}
        return {seed: self.examiner.examine(path / view.file) for seed, path in paths.items()
                if (result := self._result(path)) and result['status'] == 'finished'}  # yapf: disable


def hash_of_logs(lines: Sequence[Line]) -> str:
    """One SHA-256 over those of all logs."""
    logs = {result['identity']: result['logs'] for line in lines for result in line.trainings}
    return hashlib.sha256(json.dumps(logs, sort_keys=True).encode()).hexdigest()
