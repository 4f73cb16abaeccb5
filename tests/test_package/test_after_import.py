"""Actions on a module that nobody has loaded yet."""
import importlib
import inspect
import sys

import pytest

from mmface.utils.after_import import after_import


@pytest.fixture
def module(tmp_path, monkeypatch):
    """The name of a module that is not loaded."""
    (tmp_path / 'watched_module.py').write_text('def answer():\n    return 1\n')
    (tmp_path / 'its_user.py').write_text('from watched_module import answer\n')
    monkeypatch.syspath_prepend(tmp_path)
    finders = list(sys.meta_path)
    yield 'watched_module'
    for name in ('watched_module', 'its_user'):
        sys.modules.pop(name, None)
    sys.meta_path[:] = finders


def test_nothing_is_loaded_by_watching_and_the_action_comes_before_the_importer_goes_on(module):
    after_import(module, lambda loaded: setattr(loaded, 'answer', lambda: 2))
    assert module not in sys.modules
    assert importlib.import_module('its_user').answer() == 2


def test_a_loaded_module_is_acted_on_at_once(module):
    loaded, seen = importlib.import_module(module), []
    after_import(module, seen.append)
    assert seen == [loaded]


def test_looking_for_the_module_does_not_use_the_watch_up_and_loading_it_does(module):
    before, seen = list(sys.meta_path), []
    after_import(module, seen.append)
    after_import(module, seen.append)  # the same again is the same watch
    assert importlib.util.find_spec(module).origin.endswith('watched_module.py')
    loaded = importlib.import_module(module)
    assert seen == [loaded]
    assert sys.meta_path == before


def test_several_actions_all_come(module):
    seen = []
    for _ in range(3):
        after_import(module, lambda loaded: seen.append(loaded.__name__))
    importlib.import_module(module)
    assert seen == [module] * 3


def test_source_and_file_of_a_watched_module_are_its_own(module):
    after_import(module, lambda loaded: None)
    loaded = importlib.import_module(module)
    assert inspect.getsource(loaded.answer) == 'def answer():\n    return 1\n'
    assert loaded.__file__ == loaded.__spec__.origin


def test_a_module_that_fails_to_load_fails_as_ever_and_is_still_watched(tmp_path, module):
    seen = []
    after_import(module, seen.append)
    source = tmp_path / 'watched_module.py'
    source.write_text('raise RuntimeError("torn")\n')
    with pytest.raises(RuntimeError, match='torn'):
        importlib.import_module(module)
    source.write_text('mended = True\n')
    importlib.invalidate_caches()
    assert seen == [] and importlib.import_module(module).mended and len(seen) == 1
