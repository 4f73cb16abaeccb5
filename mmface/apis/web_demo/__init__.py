"""A page for the own machine: two photos, or a photo and a gallery."""
from .app import create_app
from .serve import make_web_server

__all__ = ['create_app', 'make_web_server']
