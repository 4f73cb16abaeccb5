"""Registries of mmface.

Each is a child of mmpretrain's registry of the same name, so that a config in scope ``mmface`` finds our classes by their plain name,
mmpretrain's as ``mmpretrain.ResNet`` with every nested type resolved there, and MMEngine's behind both. ``locations`` makes the
registration lazy: ``import mmface`` stays cheap and a package is imported when a name is first looked up.
"""
from mmengine.registry import FUNCTIONS as _MMENGINE_FUNCTIONS
from mmengine.registry import Registry
from mmpretrain import registry as _parent

__all__ = [
    'DATASETS', 'DATA_SAMPLERS', 'EVALUATORS', 'FUNCTIONS', 'HOOKS', 'LOG_PROCESSORS', 'LOOPS', 'METRICS', 'MODELS', 'MODEL_WRAPPERS',
    'OPTIMIZERS', 'OPTIM_WRAPPERS', 'OPTIM_WRAPPER_CONSTRUCTORS', 'PARAM_SCHEDULERS', 'RUNNERS', 'TASK_UTILS', 'TRANSFORMS', 'VISBACKENDS',
    'VISUALIZERS', 'WEIGHT_INITIALIZERS'
]

RUNNERS = Registry('runner', parent=_parent.RUNNERS, locations=['mmface.runtime'])
LOOPS = Registry('loop', parent=_parent.LOOPS, locations=['mmface.runtime'])
HOOKS = Registry('hook', parent=_parent.HOOKS, locations=['mmface.runtime'])
LOG_PROCESSORS = Registry('log processor', parent=_parent.LOG_PROCESSORS, locations=['mmface.runtime'])
OPTIMIZERS = Registry('optimizer', parent=_parent.OPTIMIZERS, locations=['mmface.runtime'])
OPTIM_WRAPPERS = Registry('optimizer_wrapper', parent=_parent.OPTIM_WRAPPERS, locations=['mmface.runtime'])
OPTIM_WRAPPER_CONSTRUCTORS = Registry(
    'optimizer wrapper constructor', parent=_parent.OPTIM_WRAPPER_CONSTRUCTORS, locations=['mmface.runtime'])
PARAM_SCHEDULERS = Registry('parameter scheduler', parent=_parent.PARAM_SCHEDULERS, locations=['mmface.runtime'])
DATASETS = Registry('dataset', parent=_parent.DATASETS, locations=['mmface.datasets'])
DATA_SAMPLERS = Registry('data sampler', parent=_parent.DATA_SAMPLERS, locations=['mmface.datasets'])
TRANSFORMS = Registry('transform', parent=_parent.TRANSFORMS, locations=['mmface.datasets'])
FUNCTIONS = Registry('function', parent=_MMENGINE_FUNCTIONS, locations=['mmface.datasets'])
MODELS = Registry('model', parent=_parent.MODELS, locations=['mmface.models'])
MODEL_WRAPPERS = Registry('model_wrapper', parent=_parent.MODEL_WRAPPERS, locations=['mmface.models'])
WEIGHT_INITIALIZERS = Registry('weight initializer', parent=_parent.WEIGHT_INITIALIZERS, locations=['mmface.models'])
TASK_UTILS = Registry('task util', parent=_parent.TASK_UTILS, locations=['mmface.models'])
METRICS = Registry('metric', parent=_parent.METRICS, locations=['mmface.evaluation'])
EVALUATORS = Registry('evaluator', parent=_parent.EVALUATORS, locations=['mmface.evaluation'])
VISUALIZERS = Registry('visualizer', parent=_parent.VISUALIZERS, locations=['mmface.visualization'])
VISBACKENDS = Registry('vis_backend', parent=_parent.VISBACKENDS, locations=['mmface.visualization'])
