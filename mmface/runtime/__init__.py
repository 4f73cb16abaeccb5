"""The MMEngine side of training: loops, hooks and optimiser wrappers that make checkpoints safe, atomic and exactly resumable."""
from .atomic_backend import AtomicBackend
from .data_position import DataPosition
from .hooks import (
    AtomicCheckpointHook,
    CentroidInitHook,
    FaceEMAHook,
    FaceRuntimeInfoHook,
    ResumeScheduleHook,
    SafeCheckpointHook,
    StepSeedHook,
    StrictLoadHook,
)
from .loops import FaceEpochTrainLoop, FaceIterTrainLoop
from .optim import FaceAmpOptimWrapper, FaceOptimWrapper, FaceOptimWrapperConstructor

__all__ = [
    'AtomicBackend', 'AtomicCheckpointHook', 'CentroidInitHook', 'DataPosition', 'FaceAmpOptimWrapper', 'FaceEMAHook', 'FaceEpochTrainLoop',
    'FaceIterTrainLoop', 'FaceOptimWrapper', 'FaceOptimWrapperConstructor', 'FaceRuntimeInfoHook', 'ResumeScheduleHook',
    'SafeCheckpointHook', 'StepSeedHook', 'StrictLoadHook'
]
