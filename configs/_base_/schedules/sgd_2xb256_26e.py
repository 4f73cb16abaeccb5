# AdaFace's recipe for a global batch of 512: 26 epochs, learning rate 0.1 divided by 10 after 12, 20 and 24; batch norms are not decayed.
# Without augmentation the paper trains for 24 epochs with steps after 10, 18 and 22, which is sgd_4xb128_24e.py.
optim_wrapper = dict(
    type='FaceOptimWrapper',
    optimizer=dict(type='SGD', lr=0.1, momentum=0.9, weight_decay=5e-4, fused=True),
    paramwise_cfg=dict(norm_decay_mult=0.))
param_scheduler = [dict(type='MultiStepLR', milestones=[12, 20, 24], gamma=0.1, by_epoch=True)]
train_cfg = dict(type='FaceEpochTrainLoop', max_epochs=26, val_interval=1)
auto_scale_lr = dict(base_batch_size=512)  # for --auto-scale-lr
