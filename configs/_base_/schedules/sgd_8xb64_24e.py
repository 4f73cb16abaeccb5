# GB-CosFace's recipe for a global batch of 512: 24 epochs, learning rate 0.1 divided by 10 after 4, 9, 14 and 19, no warm-up; everything
# is decayed. The official code counts epochs from 0 and steps where epoch >= milestone - 1 for milestones 5, 10, 15 and 20.
optim_wrapper = dict(
    type='FaceOptimWrapper',
    optimizer=dict(type='SGD', lr=0.1, momentum=0.9, weight_decay=5e-4, fused=True))
param_scheduler = [dict(type='MultiStepLR', milestones=[4, 9, 14, 19], gamma=0.1, by_epoch=True)]
train_cfg = dict(type='FaceEpochTrainLoop', max_epochs=24, val_interval=1)
auto_scale_lr = dict(base_batch_size=512)  # for --auto-scale-lr
