"""Formats that need a package which not everybody has say which, and how to get it."""
import pytest

from mmface.datasets import open_records
from mmface.utils import dependency


@pytest.mark.parametrize('name, content, package', [
    ('set.arrow', b'', 'pyarrow'),
    ('set.parquet', b'', 'pyarrow'),
    ('set.tar', b'', 'webdataset'),
    ('set.lmdb', b'\0' * 16 + b'\xde\xc0\xef\xbe', 'lmdb'),
])
def test_without_its_package_a_format_names_the_extra(tmp_path, monkeypatch, name, content, package):
    monkeypatch.setattr(dependency, 'find_spec', lambda name: None)
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ImportError, match=rf'^{package} is not installed, which set\..* needs\. Run: pip install "mmface\[{package}\]"$'):
        open_records(tmp_path / name)


def test_a_package_that_is_there_is_no_matter(tmp_path):
    dependency.require_extra('numpy', 'nothing')
