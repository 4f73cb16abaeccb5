"""AdaFace's own trainer."""
from .ir import NewIRLayout


class AdaFace(NewIRLayout):
    """Checkpoints of Lightning. The network eats BGR; ``forward`` there divides by the norm, which mmface's embedding keeps."""
    name = 'adaface'
    project = 'AdaFace (IR)'
    wrappers = ('model.', )
    prefix = 'model.'
    inside = 'state_dict'
    color = 'BGR'
