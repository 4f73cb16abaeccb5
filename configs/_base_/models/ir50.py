# IResNet-50 as AdaFace's code builds it, on BGR: the first shortcut has no weights, dropout is 0.4, each dimension of the embedding has
# zero mean and unit variance, prototypes have length one at first. A method's config adds num_classes and the loss.
_base_ = './iresnet50.py'

model = dict(
    data_preprocessor=dict(color='BGR'),
    backbone=dict(subsample_shortcut=True),
    neck=dict(dropout=.4, affine=False),
    head=dict(init_std=512**-.5))
