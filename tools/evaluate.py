#!/usr/bin/env python
"""``mmface evaluate`` as a script."""
import sys

from mmface.commands import evaluate
from mmface.commands.main import script

main = script(evaluate, 'evaluate')

if __name__ == '__main__':
    sys.exit(main())
