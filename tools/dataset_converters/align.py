#!/usr/bin/env python
"""``mmface align`` as a script."""
import sys

from mmface.commands import align
from mmface.commands.main import script

main = script(align, 'align')

if __name__ == '__main__':
    sys.exit(main())
