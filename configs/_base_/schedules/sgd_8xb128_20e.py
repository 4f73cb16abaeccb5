# insightface's recipe for a global batch of 1,024: 20 epochs, learning rate 0.1 falling to 0 as a polynomial of power 2, no warm-up.
# The official code clips the gradients of the backbone to the norm 5; here those of the head count too.
optim_wrapper = dict(
    type='FaceOptimWrapper',
    optimizer=dict(type='SGD', lr=0.1, momentum=0.9, weight_decay=5e-4, fused=True),
    clip_grad=dict(max_norm=5.))
param_scheduler = [dict(type='PolyLR', power=2, eta_min=0., begin=0, end=20, by_epoch=True, convert_to_iter_based=True)]
train_cfg = dict(type='FaceEpochTrainLoop', max_epochs=20, val_interval=1)
auto_scale_lr = dict(base_batch_size=1024)  # for --auto-scale-lr
