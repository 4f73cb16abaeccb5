"""Whether the zoo says what is there: every entry against its config, every computed number against what it is computed from."""
from .check_index import check_index
from .computed_fields import COMPUTED, computed_fields
from .table import zoo_table
from .write_fields import write_fields

__all__ = ['COMPUTED', 'check_index', 'computed_fields', 'write_fields', 'zoo_table']
