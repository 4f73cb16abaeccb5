"""Hooks."""
from .atomic_checkpoint_hook import AtomicCheckpointHook
from .centroid_init_hook import CentroidInitHook
from .face_ema_hook import FaceEMAHook
from .face_runtime_info_hook import FaceRuntimeInfoHook
from .resume_schedule_hook import ResumeScheduleHook
from .safe_checkpoint_hook import SafeCheckpointHook
from .step_seed_hook import StepSeedHook
from .strict_load_hook import StrictLoadHook
from .training_curves_hook import TrainingCurvesHook
from .training_diagnosis_hook import TrainingDiagnosisHook

__all__ = [
    'AtomicCheckpointHook', 'CentroidInitHook', 'FaceEMAHook', 'FaceRuntimeInfoHook', 'ResumeScheduleHook', 'SafeCheckpointHook',
    'StepSeedHook', 'StrictLoadHook', 'TrainingCurvesHook', 'TrainingDiagnosisHook'
]
