"""People to look for, on disk: embeddings and names, no images."""
from .gallery import Gallery
from .gallery_file import GalleryError
from .gallery_index import GalleryIndex
from .match import Match

__all__ = ['Gallery', 'GalleryError', 'GalleryIndex', 'Match']
