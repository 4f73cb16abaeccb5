"""Recognizers: whole models."""
from .face_recognizer import FaceRecognizer

__all__ = ['FaceRecognizer']
