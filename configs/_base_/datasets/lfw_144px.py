# LFW aligned to 144 x 144, as the P2SGrad paper's network wants it; see lfw.py.
_base_ = './lfw.py'

val_dataloader = dict(dataset=dict(path='data/lfw_144px'))
test_dataloader = val_dataloader
