"""``python -m mmface`` is the command ``mmface``, for what starts modules: ``torchrun ... -m mmface train CONFIG --launcher pytorch``."""
import sys

from .commands.main import main

if __name__ == '__main__':
    sys.exit(main())
