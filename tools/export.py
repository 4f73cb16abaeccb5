#!/usr/bin/env python
"""``mmface export`` as a script."""
import sys

from mmface.commands import export
from mmface.commands.main import script

main = script(export, 'export')

if __name__ == '__main__':
    sys.exit(main())
