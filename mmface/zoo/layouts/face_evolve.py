"""face.evoLVe's IR networks, and CurricularFace's, cavaface's and others with their keys."""
from .ir import OldIRLayout


class FaceEvolve(OldIRLayout):
    """Plain state dicts."""
    name = 'face-evolve'
    project = 'face.evoLVe (IR)'
