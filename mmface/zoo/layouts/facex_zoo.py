"""FaceX-Zoo's IR networks."""
from .ir import OldIRLayout


class FaceXZoo(OldIRLayout):
    """Read with OpenCV; (x - 127.5) / 128. The head is ``head.weight`` beside the backbone."""
    name = 'facex-zoo'
    project = 'FaceX-Zoo (IR)'
    wrappers = ('feat_net.', 'backbone.')
    prefix = 'backbone.'
    inside = 'state_dict'
    color, std = 'BGR', (128., 128., 128.)
