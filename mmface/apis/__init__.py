"""What a program calls: one function or object a task, without a config's Runner."""
from .export_model import export_model
from .face_cropper import FaceCrop, FaceCropper
from .face_detector import DetectedFace, FaceDetector
from .face_inferencer import FaceInferencer
from .gallery import Gallery, GalleryError, GalleryIndex, Match
from .init_model import init_model
from .onnx_backend import OnnxEmbedder
from .photo import PhotoError, read_photo
from .threshold import Threshold, choose_threshold
from .torch_backend import TorchEmbedder
from .verify import Verification, compare_faces

__all__ = [
    'DetectedFace', 'FaceCrop', 'FaceCropper', 'FaceDetector', 'FaceInferencer', 'Gallery', 'GalleryError', 'GalleryIndex', 'Match',
    'OnnxEmbedder', 'PhotoError', 'Threshold', 'TorchEmbedder', 'Verification', 'choose_threshold', 'compare_faces', 'export_model',
    'init_model', 'read_photo'
]
