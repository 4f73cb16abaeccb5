"""Procedural faces: pictures of people who do not exist, drawn by arithmetic alone.

They need no download, no licence and nobody's consent, and they pose the question that real faces pose: colour, light, background, pose
and expression change from picture to picture, and only the shape of the face says who it is.
"""
from .face_identity import FaceIdentity
from .face_view import FaceView
from .procedural_faces import ProceduralFaces
from .write_sets import SetSizes, write_sets

__all__ = ['FaceIdentity', 'FaceView', 'ProceduralFaces', 'SetSizes', 'write_sets']
