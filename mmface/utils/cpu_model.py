"""What this machine computes with, for tables."""
import platform
from pathlib import Path


def cpu_model() -> str:
    """The processor's name, as the machine tells it."""
    path = Path('/proc/cpuinfo')
    lines = path.read_text().splitlines() if path.is_file() else []
    return next((line.partition(':')[2].strip() for line in lines if line.startswith('model name')), platform.processor() or 'unknown CPU')
