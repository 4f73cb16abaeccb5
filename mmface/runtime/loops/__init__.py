"""Training loops that can be left at any checkpoint and entered again there."""
from .face_epoch_train_loop import FaceEpochTrainLoop
from .face_iter_train_loop import FaceIterTrainLoop

__all__ = ['FaceEpochTrainLoop', 'FaceIterTrainLoop']
