"""What the demo found."""
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .verify import Verification

LEARNED = 0.9  # the least accuracy of what was trained ...
UNLEARNED = 0.7  # ... and the most of what was not: the task is to need learning


@dataclass
class DemoReport:
    """The numbers of a run. Shares are fractions.

    Attributes:
        out: the folder of all files.
        trained: ``accuracy``, ``accuracy_se``, ``auc`` and ``eer`` on the pairs, of what was trained: the network and its ONNX file.
        untrained: the same, of what was not: the network as drawn, and two comparisons without any network.
        verifications: a genuine and an impostor pair, compared as ``tools/verify.py`` does it.
        seconds: by step.
        facts: what the numbers depend on.
    """
    out: Path
    trained: dict[str, dict[str, float]] = field(default_factory=dict)
    untrained: dict[str, dict[str, float]] = field(default_factory=dict)
    verifications: dict[str, Verification] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    facts: dict[str, Any] = field(default_factory=dict)

    @property
    def model(self) -> Path:
        """The ONNX file."""
        return self.out / 'procedural.onnx'

    @property
    def picture(self) -> Path:
        """ROC curve, similarities, and some pairs with their scores."""
        return self.out / 'demo.png'

    @property
    def problems(self) -> list[str]:
        """Where the numbers are not what the demo promises."""
        poor = [f'{name}: accuracy {row["accuracy"]:.2%}, promised is {LEARNED:.0%} or more'
                for name, row in self.trained.items() if row['accuracy'] < LEARNED]  # yapf: disable
        easy = [f'{name}: accuracy {row["accuracy"]:.2%} without learning, promised is {UNLEARNED:.0%} or less'
                for name, row in self.untrained.items() if row['accuracy'] > UNLEARNED]  # yapf: disable
        return poor + easy

    def to_dict(self) -> dict:
        """Numbers, strings, lists and dicts only, for JSON."""
        return dict(
            trained=self.trained, untrained=self.untrained, facts=self.facts, seconds=self.seconds, problems=self.problems,
            verifications={kind: found.to_dict() for kind, found in self.verifications.items()})

    def __str__(self) -> str:
        lines = [f'{"":<24}{"accuracy":>12}{"std. error":>12}{"AUC":>10}{"EER":>10}']
        for name, row in (self.trained | self.untrained).items():
            lines.append(f'{name:<24}{row["accuracy"]:>12.2%}{row["accuracy_se"]:>12.2%}{row["auc"]:>10.4f}{row["eer"]:>10.2%}')
        steps = ', '.join(f'{step} {seconds:.0f}' for step, seconds in self.seconds.items())
        return '\n'.join([*lines, '', f'seconds  {sum(self.seconds.values()):.0f}: {steps}', f'picture  {self.picture}'])
