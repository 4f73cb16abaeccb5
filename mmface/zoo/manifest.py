"""What stands beside a file of weights: the network they are of, what it eats, and where it comes from."""
import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from mmface.version import __version__

SCHEMA = 1
UNKNOWN = 'unknown'


@dataclass(frozen=True)
class Manifest:
    """The JSON file of a pair ``NAME.safetensors`` and ``NAME.json``.

    Attributes:
        family: which layout the weights came in: ``'mmface'`` for ours, else a family of :func:`mmface.zoo.convert`.
        model: config of the :class:`~mmface.models.FaceRecognizer`, without a head.
        training_set: the images that the weights were trained on, in words.
        num_classes: of the head that was removed; None where there was none.
        licence: of ``code``, ``weights`` and ``data``.
        source: ``file`` and ``sha256`` of what the weights were taken from, and what else there is to say of it.
        weights_sha256: of the ``.safetensors`` file.
        created_by: the version of mmface that wrote it.
        input: ``size`` (height, width), ``color``, ``mean``, ``std`` (in 0..255) and ``template`` of the images: as in ``model``, for
            readers who do not know mmface.
        schema: of this record.
    """
    family: str
    model: dict[str, Any]
    training_set: str = UNKNOWN
    num_classes: int | None = None
    licence: dict[str, str] = field(default_factory=lambda: dict(code=UNKNOWN, weights=UNKNOWN, data=UNKNOWN))
    source: dict[str, Any] = field(default_factory=dict)
    weights_sha256: str = ''
    created_by: str = f'mmface {__version__}'
    input: dict[str, Any] = field(default_factory=dict)
    schema: int = SCHEMA

    def to_json(self) -> str:
        """As it stands in the file."""
        return json.dumps(dict(schema=self.schema) | asdict(self), indent=2, allow_nan=False) + '\n'

    @classmethod
    def read(cls, path: Path) -> 'Manifest':
        """The manifest in a file.

        Raises:
            FileNotFoundError: there is none.
            ValueError: not JSON, not a manifest, or one of a newer version.
        """
        if not path.is_file():
            raise FileNotFoundError(f'{path}: there is no such manifest; weights alone do not say which network they are of')
        try:
            record = json.loads(path.read_text(encoding='utf-8'))
            schema = record['schema']
            manifest = cls(**record)
        except (ValueError, TypeError, KeyError) as error:
            raise ValueError(f'{path}: not a manifest of a model ({error})') from error
        if schema != SCHEMA:
            raise ValueError(f'{path}: its schema is {schema!r}, this version reads {SCHEMA}: update mmface')
        return manifest
