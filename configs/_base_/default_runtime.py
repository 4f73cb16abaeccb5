"""What every run has: hooks, environment, log, seed."""
default_scope = 'mmface'
custom_imports = dict(imports=['mmface'], allow_failed_imports=False)  # scripts that do not import mmface get its mends of MMEngine too

default_hooks = dict(
    runtime_info=dict(type='FaceRuntimeInfoHook'),
    timer=dict(type='IterTimerHook'),
    logger=dict(type='LoggerHook', interval=50),
    param_scheduler=dict(type='ParamSchedulerHook'),
    checkpoint=dict(type='AtomicCheckpointHook', interval=1, max_keep_ckpts=3, save_best='auto'),
    sampler_seed=dict(type='DistSamplerSeedHook'),
    step_seed=dict(type='StepSeedHook'),
    safe_checkpoint=dict(type='SafeCheckpointHook'),
    strict_load=dict(type='StrictLoadHook'),
    resume_schedule=dict(type='ResumeScheduleHook'))

env_cfg = dict(
    cudnn_benchmark=False, mp_cfg=dict(mp_start_method='fork', opencv_num_threads=0), dist_cfg=dict(backend='nccl', timeout=1800))

visualizer = dict(type='Visualizer', vis_backends=[dict(type='LocalVisBackend'), dict(type='TensorboardVisBackend')])
log_processor = dict(by_epoch=True, window_size=50, mean_pattern=r'.*(loss|cosine|time|grad_norm).*')
log_level = 'INFO'

load_from = None
resume = False
randomness = dict(seed=0)
