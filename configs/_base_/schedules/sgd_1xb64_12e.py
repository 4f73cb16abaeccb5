# For a batch of 64 on one small machine: 12 epochs, a warm-up of 200 iterations, then learning rate 0.1 falling to 0 as a cosine.
optim_wrapper = dict(
    type='FaceOptimWrapper',
    optimizer=dict(type='SGD', lr=0.1, momentum=0.9, weight_decay=5e-4, fused=True))
param_scheduler = [
    dict(type='LinearLR', start_factor=0.01, begin=0, end=200, by_epoch=False),
    dict(type='CosineAnnealingLR', eta_min=0., begin=0, end=12, by_epoch=True, convert_to_iter_based=True),
]
train_cfg = dict(type='FaceEpochTrainLoop', max_epochs=12, val_interval=1)
auto_scale_lr = dict(base_batch_size=64)  # for --auto-scale-lr
