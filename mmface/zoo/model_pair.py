"""A network on disk as two files that anybody can read: weights as safetensors, a manifest as JSON."""
from dataclasses import dataclass, replace
from pathlib import Path

from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor

from mmface.utils.atomic_file import atomic_file

from .download import sha256_of
from .manifest import Manifest


@dataclass(frozen=True)
class ModelPair:
    """Weights and what they are of.

    Attributes:
        weights: tensors by name, without a head.
        manifest: see :class:`Manifest`.
    """
    weights: dict[str, Tensor]
    manifest: Manifest

    @classmethod
    def read(cls, path: str | Path) -> 'ModelPair':
        """The pair of a ``.safetensors`` file, or of its ``.json``.

        Raises:
            FileNotFoundError: one of the two is missing.
            ValueError: damaged, or the weights are not those that the manifest is about.
            DataFormatError: a manifest that asks for more than modules, see :func:`~mmface.zoo.known_types.check_types`.
        """
        from .known_types import check_types  # which loads all models, and listing the zoo needs none
        weights, manifest = pair_paths(path)
        record = Manifest.read(manifest)
        check_types(record.model, manifest)
        if not weights.is_file():
            raise FileNotFoundError(f'{weights}: there is no such file; {manifest.name} is the manifest of one')
        content = weights.read_bytes()
        if record.weights_sha256 and sha256_of(weights) != record.weights_sha256:
            raise ValueError(f'{weights}: not the weights that {manifest.name} is about (SHA-256): damaged, altered or replaced')
        try:
            return cls(load(content), record)
        except SafetensorError as error:
            raise ValueError(f'{weights}: not a safetensors file ({error})') from error

    def write(self, path: str | Path) -> Path:
        """Writes both files; returns the weights' path. The manifest, which names the weights' hash, comes last."""
        weights, manifest = pair_paths(path)
        with atomic_file(weights) as file:
            file.write(save({name: tensor.contiguous() for name, tensor in sorted(self.weights.items())}))
        record = replace(self.manifest, weights_sha256=sha256_of(weights))
        with atomic_file(manifest) as file:
            file.write(record.to_json().encode())
        return weights


def pair_paths(path: str | Path) -> tuple[Path, Path]:
    """The two files of a pair, by either.

    Raises:
        ValueError: it ends in neither ``.safetensors`` nor ``.json``.
    """
    path = Path(path)
    if path.suffix not in ('.safetensors', '.json'):
        raise ValueError(f'{path}: a pair is NAME.safetensors and NAME.json')
    return path.with_suffix('.safetensors'), path.with_suffix('.json')
