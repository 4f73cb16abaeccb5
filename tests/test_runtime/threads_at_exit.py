"""Imported by a rank, this leaves in ``threads<rank>`` how many of gloo's threads live on as the process ends."""
import atexit
import os
from pathlib import Path


def write():
    names = [task.joinpath('comm').read_text().strip() for task in Path('/proc/self/task').iterdir()]
    Path(f'threads{os.environ["RANK"]}').write_text(str(sum('gloo' in name for name in names)))


atexit.register(write)
