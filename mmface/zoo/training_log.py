"""What a training left in its work folder, in a few numbers."""
import json
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class TrainingLog:
    """The end of a training.

    Attributes:
        steps: iterations done.
        loss: of the last line that has one; None where there is none.
        validation: numbers of the last validation, by name.
    """
    steps: int
    loss: float | None
    validation: dict[str, float]

    @classmethod
    def read(cls, work_dir: Path) -> 'TrainingLog | None':
        """The log of the last training in an MMEngine work folder; None where there is none.

        Raises:
            ValueError: a damaged log; names file and line.
        """
        for path in sorted(work_dir.glob('*/vis_data/scalars.json'), reverse=True):
            lines = [_line(path, number, text) for number, text in enumerate(path.read_text(encoding='utf-8').splitlines(), 1)]
            training = [line for line in lines if 'loss' in line]
            if training:
                tested = [line for line in lines if any('/' in name for name in line)]
                validation = {name: value for name, value in tested[-1].items() if '/' in name} if tested else {}
                return cls(int(training[-1].get('iter', training[-1].get('step', 0))), training[-1]['loss'], validation)
        return None


def _line(path: Path, number: int, text: str) -> dict:
    try:
        return dict(json.loads(text))
    except (ValueError, TypeError) as error:
        raise ValueError(f'{path}, line {number}: not a line of an MMEngine log ({error})') from error
