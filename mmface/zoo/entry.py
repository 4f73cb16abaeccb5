"""One model of the zoo, as its metafile describes it. docs/model_zoo.md has the schema."""
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

PACKAGE = Path(__file__).resolve().parents[1]
"""The folder of the package ``mmface``: weights that it brings are named relative to it."""


@dataclass(frozen=True)
class Result:
    """Numbers on a data set.

    Attributes:
        task: such as ``'Face Verification'``.
        dataset: what was tested on.
        metrics: numbers by name; those of ``'Accuracy'`` and of TAR in percent.
        protocol: the switches without which the numbers mean nothing: folds, flip rule, FAR.
        source: who says so: a command of ours, or the page where the authors do.
    """
    task: str
    dataset: str
    metrics: dict[str, float]
    protocol: str | None = None
    source: str | None = None


@dataclass(frozen=True)
class LicenceTerms:
    """What code, weights and training data may be used for: SPDX identifiers or short texts, ``'unknown'`` where nobody says."""
    code: str
    weights: str
    data: str

    def __str__(self) -> str:
        return f'code {self.code}, weights {self.weights}, data {self.data}'


@dataclass(frozen=True)
class Origin:
    """Whose model it is where it is not ours.

    Attributes:
        project: its name.
        url: its page.
    """
    project: str
    url: str


@dataclass(frozen=True)
class ModelEntry:
    """A model of the zoo.

    Attributes:
        name: unique.
        collection: the method.
        root: the folder that relative paths are of.
        config: the config file, relative to ``root``; None for a network whose description comes with its weights.
        metadata: facts by OpenMMLab's names: ``Training Data``, ``Parameters``, ``FLOPs``, ...
        results: what it reaches, and who says so.
        licence: see :class:`LicenceTerms`.
        paper: title and URL.
        weights: an address (``http...``), or a file that the package brings, relative to the package; None where there is none.
        mirrors: further addresses of ``weights``.
        sha256, size: of the weights' file; None where their author does not publish them.
        page: where a person can fetch the weights which a program cannot.
        rebuild: the command that makes the weights.
        origin: whose it is; None for ours.
        converter: the family that :func:`mmface.zoo.convert` has to find in the weights; None for files of ours.
        card: the model card, relative to ``root``; that of shipped weights lies beside them.
    """
    name: str
    collection: str
    root: Path
    config: str | None
    metadata: dict[str, Any]
    results: tuple[Result, ...]
    licence: LicenceTerms
    paper: dict[str, str] = field(default_factory=dict)
    weights: str | None = None
    mirrors: tuple[str, ...] = ()
    sha256: str | None = None
    size: int | None = None
    page: str | None = None
    rebuild: str | None = None
    origin: Origin | None = None
    converter: str | None = None
    card: str | None = None

    @property
    def tasks(self) -> tuple[str, ...]:
        """What it was measured on."""
        return tuple(dict.fromkeys(result.task for result in self.results))

    @property
    def shipped(self) -> bool:
        """Whether the package brings the weights."""
        return self.weights is not None and not self.weights.startswith(('http://', 'https://'))

    @property
    def status(self) -> str:
        """How one comes by the weights, in a word or two: ``download`` is checked by its hash, ``unverified`` has none."""
        if self.shipped:
            return 'shipped'
        if self.weights:
            return 'download' if self.sha256 else 'unverified'
        return 'by hand' if self.page else 'rebuild' if self.rebuild else 'config only'

    @property
    def card_path(self) -> Path | None:
        """The model card."""
        if self.shipped:
            return (PACKAGE / str(self.weights)).with_suffix('.md')
        return None if self.card is None else self.root / self.card

    @property
    def config_path(self) -> Path | None:
        """The config file."""
        return None if self.config is None else self.root / self.config
