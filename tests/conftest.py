"""Fixtures for all tests."""
from collections.abc import Iterator
from pathlib import Path

import pytest

_SHARED = Path(__file__).resolve().parents[2] / 'shared'


@pytest.fixture(scope='session')
def shared() -> Path:
    """The reference material, real faces and real networks that may lie beside the checkout and are no part of it."""
    if not _SHARED.is_dir():
        pytest.skip(f'needs the reference material in {_SHARED}, which is not part of the project')
    return _SHARED


@pytest.fixture(scope='session', autouse=True)
def _own_cache(tmp_path_factory) -> Iterator[None]:
    """Nothing is left in the cache folder of whoever runs the tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv('MMENGINE_HOME', str(tmp_path_factory.mktemp('cache')))
        yield
