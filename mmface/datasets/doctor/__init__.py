"""What is wrong with a data set? See :func:`examine`."""
from .diagnosis import Diagnosis
from .examination import examine
from .finding import Finding

__all__ = ['Diagnosis', 'Finding', 'examine']
