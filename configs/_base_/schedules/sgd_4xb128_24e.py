# CurricularFace's recipe for a global batch of 512: 24 epochs, learning rate 0.1 divided by 10 after 10, 18 and 22; batch norms are not
# decayed. AdaFace's paper uses the same steps where it does not augment.
optim_wrapper = dict(
    type='FaceOptimWrapper',
    optimizer=dict(type='SGD', lr=0.1, momentum=0.9, weight_decay=5e-4, fused=True),
    paramwise_cfg=dict(norm_decay_mult=0.))
param_scheduler = [dict(type='MultiStepLR', milestones=[10, 18, 22], gamma=0.1, by_epoch=True)]
train_cfg = dict(type='FaceEpochTrainLoop', max_epochs=24, val_interval=1)
auto_scale_lr = dict(base_batch_size=512)  # for --auto-scale-lr
