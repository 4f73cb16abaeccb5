"""TFace's IR networks, and others with their keys and no wrapper."""
from .ir import NewIRLayout


class TFace(NewIRLayout):
    """Plain state dicts; the head is in files of its own, one a rank."""
    name = 'tface'
    project = 'TFace (IR)'
