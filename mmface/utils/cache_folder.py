"""Where everything is kept that can be fetched or worked out again."""
import os
from pathlib import Path


def cache_folder() -> Path:
    """The folder ``mmface`` in MMEngine's cache: ``$MMENGINE_HOME``, else ``$XDG_CACHE_HOME/mmengine``, else ``~/.cache/mmengine``."""
    home = os.getenv('MMENGINE_HOME') or os.path.join(os.getenv('XDG_CACHE_HOME') or '~/.cache', 'mmengine')
    return Path(home).expanduser() / 'mmface'
