#!/usr/bin/env python
"""``mmface web`` as a script."""
import sys

from mmface.commands import web
from mmface.commands.main import script

main = script(web, 'web_demo')

if __name__ == '__main__':
    sys.exit(main())
