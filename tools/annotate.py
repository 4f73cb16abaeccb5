#!/usr/bin/env python
"""``mmface annotate`` as a script."""
import sys

from mmface.commands import annotate
from mmface.commands.main import script

main = script(annotate, 'annotate')

if __name__ == '__main__':
    sys.exit(main())
