"""People to look for, on disk: embeddings and names, no images."""
from .gallery import Gallery, Match
from .gallery_file import GalleryError

__all__ = ['Gallery', 'GalleryError', 'Match']
