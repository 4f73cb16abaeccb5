#!/usr/bin/env python
"""``mmface demo`` as a script."""
import sys

from mmface.commands import demo
from mmface.commands.main import script

main = script(demo, 'demo')

if __name__ == '__main__':
    sys.exit(main())
