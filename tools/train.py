#!/usr/bin/env python
"""``mmface train`` as a script."""
import sys

from mmface.commands import train
from mmface.commands.main import script

main = script(train, 'train')

if __name__ == '__main__':
    sys.exit(main())
