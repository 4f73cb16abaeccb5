"""Cross-Quality LFW: LFW's identities in pairs of good and bad image quality.

Knoche, Hoermann and Rigoll, Cross-Quality LFW, FG 2021, https://martlgap.github.io/xqlfw/.
"""
import re

from .lfw import LFW
from .table import EVALS


@EVALS.register('xqlfw')
class XQLFW(LFW):
    """The layout of LFW with ``xqlfw_pairs.txt``. Where the aligned and the original images are both there, the aligned ones are taken."""
    set_name = 'xqlfw'
    list_name = 'xqlfw_pairs.txt'
    lists = re.compile(r'xqlfw.*\.txt')
    preferred = ('xqlfw_aligned_112', )
