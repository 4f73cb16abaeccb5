"""What a program calls: one function or object a task, without a config's Runner."""
from .export_model import export_model
from .face_cropper import FaceCrop, FaceCropper
from .face_detector import DetectedFace, FaceDetector
from .face_inferencer import FaceInferencer
from .gallery import Gallery, GalleryError, GalleryIndex, Match
from .get_model import get_model, get_model_info, list_models
from .init_model import init_model
from .onnx_backend import OnnxEmbedder
from .open_embedder import open_embedder
from .photo import PhotoError, read_photo
from .threshold import Threshold, choose_threshold
from .torch_backend import TorchEmbedder
from .verify import Verification, compare_faces

__all__ = [
    'DetectedFace', 'FaceCrop', 'FaceCropper', 'FaceDetector', 'FaceInferencer', 'Gallery', 'GalleryError', 'GalleryIndex', 'Match',
    'OnnxEmbedder', 'PhotoError', 'Threshold', 'TorchEmbedder', 'Verification', 'choose_threshold', 'compare_faces', 'export_model',
    'get_model', 'get_model_info', 'init_model', 'list_models', 'open_embedder', 'read_photo'
]
