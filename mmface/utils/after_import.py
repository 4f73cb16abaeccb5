"""Doing something to another package's module once it is loaded, without loading it before anybody wants it."""
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType


def after_import(name: str, action: Callable[[ModuleType], object]) -> None:
    """Calls ``action`` with the module ``name``: now if it is loaded, else right after it has run, before its importer goes on."""
    module = sys.modules.get(name)
    watch = _Watch(name, action)
    if module is not None:
        action(module)
    elif watch not in sys.meta_path:
        sys.meta_path.insert(0, watch)


@dataclass(frozen=True)
class _Watch(MetaPathFinder):
    """Finds one module as it is found without it, with a loader that calls ``action`` at the end."""
    name: str
    action: Callable[[ModuleType], object]

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        if fullname != self.name:
            return None
        for finder in sys.meta_path[sys.meta_path.index(self) + 1:]:
            spec = finder.find_spec(fullname, path, target)
            if spec is not None:
                if spec.loader is not None:
                    spec.loader = _Then(spec.loader, self)
                return spec
        return None


class _Then(Loader):
    """A loader that hands everything on and, once the module has run, calls the action and ends the watch."""

    def __init__(self, loader: Loader, watch: _Watch) -> None:
        self.loader, self.watch = loader, watch

    def __getattr__(self, name: str) -> object:
        return getattr(self.loader, name)  # get_source, get_filename and what else a loader is asked for

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self.loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        self.loader.exec_module(module)
        if self.watch in sys.meta_path:
            sys.meta_path.remove(self.watch)
        self.watch.action(module)
