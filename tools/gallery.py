#!/usr/bin/env python
"""``mmface gallery`` as a script."""
import sys

from mmface.commands import gallery
from mmface.commands.main import script

main = script(gallery, 'gallery')

if __name__ == '__main__':
    sys.exit(main())
