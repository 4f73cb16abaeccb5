"""Where the package's configs lie."""
from pathlib import Path


def config_folder() -> Path:
    """``mmface/.mim/configs`` of an installed package, or ``configs`` of a checkout that is not installed."""
    package = Path(__file__).resolve().parents[1]
    installed = package / '.mim/configs'
    return installed if installed.is_dir() else package.parent / 'configs'
