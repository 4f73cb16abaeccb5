#!/usr/bin/env python
"""``mmface verify`` as a script."""
import sys

from mmface.commands import verify
from mmface.commands.main import script

main = script(verify, 'verify')

if __name__ == '__main__':
    sys.exit(main())
