"""CVLface's IR networks."""
from .ir import NewIRLayout


class CVLface(NewIRLayout):
    """``model.pt`` and ``model.safetensors``; RGB unless its ``model.yaml`` says otherwise."""
    name = 'cvlface'
    project = 'CVLface (IR)'
    wrappers = ('net.', )
    prefix = 'net.'
