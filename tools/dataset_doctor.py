#!/usr/bin/env python
"""``mmface doctor`` as a script."""
import sys

from mmface.commands import doctor
from mmface.commands.main import script

main = script(doctor, 'dataset_doctor')

if __name__ == '__main__':
    sys.exit(main())
