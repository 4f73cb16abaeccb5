"""How another project names the tensors of a network that mmface has too."""
import inspect
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from typing import Any

import torch
from mmengine.registry import DefaultScope
from torch import Tensor

from mmface.registry import MODELS

from .difference import Difference

State = Mapping[str, Tensor]
LAYOUTS: dict[str, 'Layout'] = {}  #: every layout by its name


class UnreadableNetwork(ValueError):
    """Keys are a layout's, but of a network that mmface does not have; says which."""


class Layout(ABC):
    """One family of published checkpoints. A new one is a subclass in a file of its own; defining it registers it.

    Attributes:
        name: of the family, as manifests and ``--to`` have it. A class without one is a base of others.
        project: whose it is, for messages.
        telltale: a key that all of these networks have and no other layout has.
        wrappers: ends of the prefixes that make it this family and no other with the same telltale; none takes what the others leave.
        color, mean, std: what the network eats, for values 0 ... 255.
        prefix: what stands before the keys in files of the project.
        inside: key of the mapping in the file that has the state dict; None where the file is the state dict.
        optional: ends of keys that only training reads.
        example: configs of backbone and neck of a published network, to compare other files with.
    """
    name = ''
    project = ''
    telltale = ''
    wrappers: tuple[str, ...] = ()
    color = 'RGB'
    mean: tuple[float, float, float] = (127.5, 127.5, 127.5)
    std: tuple[float, float, float] = (127.5, 127.5, 127.5)
    prefix = ''
    inside: str | None = None
    optional: tuple[str, ...] = ()
    example: tuple[dict, dict]

    def __init_subclass__(cls) -> None:
        if cls.name:
            LAYOUTS[cls.name] = cls()

    @abstractmethod
    def describe(self, state: State) -> tuple[dict, dict, tuple[int, int]]:
        """Configs of backbone and neck, and (height, width) of the images, read off the keys and shapes.

        Raises:
            UnreadableNetwork: where they are those of no network that mmface has.
            KeyError: a tensor that tells it is missing.
        """

    @abstractmethod
    def modules(self, backbone: dict, neck: dict) -> dict[str, str]:
        """Module in the file -> module of :class:`~mmface.models.FaceRecognizer`; a parameter of no module under its whole name."""

    def to_own(self, key: str, tensor: Tensor) -> Tensor:
        """A tensor of the file as mmface's network has it; the same as a rule."""
        return tensor

    def to_foreign(self, key: str, tensor: Tensor) -> Tensor:
        """The other way round; ``key`` is that of the file."""
        return tensor

    def preprocessor(self, size: tuple[int, int]) -> dict[str, Any]:
        """What :class:`~mmface.models.FaceDataPreprocessor` has to be told."""
        return dict(color=self.color, mean=self.mean, std=self.std, size=size)

    def prefixes(self, keys: Collection[str]) -> list[str]:
        """What stands before this layout's keys, for each network of it in a file."""
        return [key.removesuffix(self.telltale) for key in keys if key == self.telltale or key.endswith('.' + self.telltale)]

    def names(self, backbone: dict, neck: dict) -> dict[str, str]:
        """Key in the file -> key in the state dict of mmface's network, for every tensor of it.

        Raises:
            UnreadableNetwork: the network has modules that this layout does not have.
        """
        back = {own: foreign for foreign, own in self.modules(backbone, neck).items()}
        names = {}
        for own in self.shapes(backbone, neck):
            module, _, leaf = own.rpartition('.')
            if own not in back and module not in back:
                raise UnreadableNetwork(f'{self.project} has nothing like {own}')
            names[back[own] if own in back else f'{back[module]}.{leaf}'] = own
        return names

    def shapes(self, backbone: dict, neck: dict) -> dict[str, Tensor]:
        """The state dict of mmface's network, without memory behind it."""
        with torch.device('meta'), DefaultScope.overwrite_default_scope('mmface'):
            return MODELS.build(model_config(backbone, neck)).state_dict()

    def compare(self, state: State, backbone: dict, neck: dict) -> Difference:
        """What keeps a state dict, its prefix removed, from being that of this network."""
        shapes, names = self.shapes(backbone, neck), self.names(backbone, neck)
        # torch before 0.4.1 did not count batches; nothing but a momentum of None reads the count
        missing = [key for key in names.keys() - state.keys() if not key.endswith('num_batches_tracked')]
        unexpected = [key for key in state.keys() - names.keys() if not key.endswith(self.optional)]
        expected = {key: tuple(self.to_foreign(key, shapes[own]).shape) for key, own in names.items()}
        wrong = {key: (tuple(state[key].shape), shape) for key, shape in expected.items() if key in state and state[key].shape != shape}
        return Difference(self.project, sorted(missing), sorted(unexpected), wrong)

    def read(self, state: State, backbone: dict, neck: dict) -> dict[str, Tensor]:
        """A state dict without difference, as mmface's."""
        return {own: self.to_own(key, state[key]) if key in state else torch.tensor(0) for key, own in self.names(backbone, neck).items()}

    def write(self, weights: State, backbone: dict, neck: dict) -> dict[str, Tensor]:
        """The state dict of mmface's network as this layout has it, without its prefix.

        Raises:
            UnreadableNetwork: this layout has no such network; says what differs.
        """
        for ours, theirs in zip((backbone, neck), self.example, strict=True):
            if _kind(ours) != _kind(theirs):
                raise UnreadableNetwork(f'{self.project} has no {_kind(ours)}, only {_kind(theirs)}')
        state = {key: self.to_foreign(key, weights[own]) for key, own in self.names(backbone, neck).items()}
        try:
            found = self.describe(state)[:2]
        except KeyError as error:
            raise UnreadableNetwork(f'{self.project} has nothing without {error.args[0]}') from None
        for ours, theirs in zip(map(with_defaults, (backbone, neck)), map(with_defaults, found), strict=True):
            odd = sorted(key for key in ours.keys() | theirs.keys() if ours.get(key) != theirs.get(key))
            if odd:
                values = ', '.join(f'{key}={ours.get(key)!r} ({theirs.get(key)!r} there)' for key in odd)
                raise UnreadableNetwork(f'{self.project} has no {ours["type"]} with {values}')
        return state


def model_config(backbone: dict, neck: dict, **preprocessor: Any) -> dict:
    """Config of the recognizer, without a head."""
    return dict(type='FaceRecognizer', backbone=backbone, neck=neck, head=None,
                data_preprocessor=dict(type='FaceDataPreprocessor', **preprocessor))  # yapf: disable


def with_defaults(config: dict) -> dict:
    """A config of a module with every argument that changes what it computes, as comparable values."""
    with DefaultScope.overwrite_default_scope('mmface'):
        arguments = inspect.signature(MODELS.get(config['type'])).parameters
    full = {name: argument.default for name, argument in arguments.items() if argument.default is not argument.empty} | config
    full['type'] = _kind(config)
    return {name: _plain(value) for name, value in full.items() if name not in _TRAINING_ONLY}


def _kind(config: dict) -> str:
    return config['type'].rpartition('.')[2]


def _plain(value: Any) -> Any:
    """Lists as tuples, and one number for two equal ones: (7, 7) is 7."""
    value = tuple(value) if isinstance(value, list) else value
    return value[0] if isinstance(value, tuple) and len(value) == 2 and value[0] == value[1] else value


_TRAINING_ONLY = {'init_cfg', 'dropout', 'drop_rate', 'drop_path_rate', 'frozen_stages'}
