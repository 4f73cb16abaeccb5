# How every training set is loaded; a data set's file says which one, and what is done to its images.
train_dataloader = dict(
    batch_size=128,
    num_workers=4,
    persistent_workers=True,
    drop_last=True,
    sampler=dict(type='FaceSampler', shuffle=True),
    collate_fn=dict(type='mmface.face_collate'),
    dataset=dict(type='FaceDataset'))
