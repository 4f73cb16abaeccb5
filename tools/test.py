#!/usr/bin/env python
"""``mmface test`` as a script."""
import sys

from mmface.commands import test
from mmface.commands.main import script

main = script(test, 'test')

if __name__ == '__main__':
    sys.exit(main())
