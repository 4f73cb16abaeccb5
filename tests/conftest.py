"""Fixtures for all tests."""
from pathlib import Path

import pytest

_SHARED = Path(__file__).resolve().parents[2] / 'shared'


@pytest.fixture(scope='session')
def shared() -> Path:
    """The reference material, real faces and real networks that may lie beside the checkout and are no part of it."""
    if not _SHARED.is_dir():
        pytest.skip(f'needs the reference material in {_SHARED}, which is not part of the project')
    return _SHARED
