"""Which layout a state dict has."""
from collections.abc import Mapping
from typing import NamedTuple

from torch import Tensor

from .layouts import LAYOUTS, Layout, UnreadableNetwork


class Recognised(NamedTuple):
    """A network of a layout that fits key by key.

    Args:
        layout: the layout.
        prefix: what stands before its keys in the file.
        state: its tensors, the prefix removed.
        backbone, neck: configs.
        size: (height, width) of the images.
    """
    layout: Layout
    prefix: str
    state: dict[str, Tensor]
    backbone: dict
    neck: dict
    size: tuple[int, int]


def recognise(state: Mapping[str, Tensor], family: str | None = None, prefix: str | None = None) -> Recognised:
    """The layout of a state dict.

    Args:
        state: tensors by name, as a file has them.
        family: name of the layout; default: told by the keys.
        prefix: of the network that is meant, where the file has several.

    Raises:
        ValueError: no such family, no layout that fits (with the difference to the nearest), or several networks.
    """
    layout, prefix = _find_layout(state, family, prefix)
    inner = {key.removeprefix(prefix): tensor for key, tensor in state.items() if key.startswith(prefix)}
    try:
        described = layout.describe(inner)
        difference = layout.compare(inner, *described[:2])
    except KeyError as error:
        raise UnreadableNetwork(f'{layout.project} without {prefix}{error.args[0]}') from None
    if difference:
        raise ValueError(str(difference))
    return Recognised(layout, prefix, inner, *described)


def _find_layout(state: Mapping[str, Tensor], family: str | None, prefix: str | None) -> tuple[Layout, str]:
    if family is not None and family not in LAYOUTS:
        raise ValueError(f'family {family!r} is none of {", ".join(LAYOUTS)}')
    found = [(layout, start) for layout in LAYOUTS.values() if family in (None, layout.name) for start in layout.prefixes(state)
             if prefix in (None, start)]  # yapf: disable
    if not found:
        raise ValueError(nearest(state))
    prefixes = sorted({start for _, start in found})
    if len(prefixes) > 1:
        raise ValueError(f'several networks, under the prefixes {", ".join(map(repr, prefixes))}: say which (--prefix)')
    layouts = [layout for layout, _ in found]
    own = [layout for layout in layouts if layout.wrappers and prefixes[0].endswith(layout.wrappers)]
    unwrapped = [layout for layout in layouts if not layout.wrappers]
    return (own or unwrapped or layouts)[0], prefixes[0]


def nearest(state: Mapping[str, Tensor]) -> str:
    """The difference to the layout that has most keys in common with a file, of the network that its shapes tell or of a published one."""
    first = next(iter(state), '').split('.')
    prefixes = [''.join(f'{part}.' for part in first[:count]) for count in range(len(first))]
    distinct = {layout.telltale: layout for layout in LAYOUTS.values()}.values()
    keys = {layout: set(layout.names(*layout.example)) for layout in distinct}
    common, _, prefix, layout = max((len(keys[layout] & {key.removeprefix(prefix) for key in state}), layout.project, prefix, layout)
                                    for layout in distinct for prefix in prefixes)  # yapf: disable
    if not common:
        return f'none of the layouts {", ".join(LAYOUTS)} has any of its {len(state)} keys: {", ".join(list(state)[:5])} ...'
    inner = {key.removeprefix(prefix): tensor for key, tensor in state.items() if key.startswith(prefix)}
    try:
        return str(layout.compare(inner, *layout.describe(inner)[:2]))
    except (KeyError, IndexError, ValueError, ZeroDivisionError):  # what a foreign file has no answer to
        return str(layout.compare(inner, *layout.example))
