# AdaFace's augmentation: crop in place, low resolution and photometric, each with probability 0.2, before the flip. docs/augmentation.md.
train_pipeline = [
    dict(type='DecodeFace'),
    dict(type='RandomCropInPlace', prob=.2),
    dict(type='RandomLowResolution', prob=.2),
    dict(type='RandomPhotometric', prob=.2),
    dict(type='RandomFlip', prob=.5),
    dict(type='PackFace'),
]
