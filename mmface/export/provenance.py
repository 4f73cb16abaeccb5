"""Where a network comes from, and what it may be used for."""
from dataclasses import dataclass, field, fields

UNKNOWN = 'unknown'


@dataclass(frozen=True)
class Licence:
    """What the code that defines the network, its trained weights and the data they were trained on may be used for.

    The three differ more often than not: code under Apache-2.0, images for research only, weights whose terms follow the images'. Each
    field is an SPDX identifier or a short text; where nobody stated it, it is ``'unknown'``, which is recorded and printed as such.

    Raises:
        ValueError: for an empty field.
    """
    code: str = UNKNOWN
    weights: str = UNKNOWN
    data: str = UNKNOWN

    def __post_init__(self) -> None:
        for entry in fields(self):
            if not getattr(self, entry.name).strip():
                raise ValueError(f'the licence of the {entry.name} is empty: name it, or say "{UNKNOWN}"')

    def __str__(self) -> str:
        return f'code {self.code}, weights {self.weights}, data {self.data}'


@dataclass(frozen=True)
class Provenance:
    """What goes into a file's metadata beside what the network itself says. ``'unknown'`` where nobody stated it.

    Attributes:
        config: name of the config file, without folders.
        config_sha256: of the config with its bases resolved.
        checkpoint_sha256: of the checkpoint file.
        training_set: the images that the weights were trained on, in words.
        licence: see :class:`Licence`.
    """
    config: str = UNKNOWN
    config_sha256: str = UNKNOWN
    checkpoint_sha256: str = UNKNOWN
    training_set: str = UNKNOWN
    licence: Licence = field(default_factory=Licence)
