#!/usr/bin/env python
"""``mmface convert`` as a script."""
import sys

from mmface.commands import convert
from mmface.commands.main import script

main = script(convert, 'convert.py')

if __name__ == '__main__':
    sys.exit(main())
