# CASIA-WebFace as the P2SGrad paper has it: a folder of images aligned to 144 x 144, one directory an identity (about 450,000 cleaned
# ones there); LFW aligned in the same way. Research only, on application to its authors.
_base_ = ['./image_folder.py', './lfw.py']

train_dataloader = dict(
    dataset=dict(
        path='data/casia_webface_144px',
        pipeline=[
            dict(type='DecodeFace'),
            dict(type='RandomFlip', prob=0.5),
            dict(type='PackFace'),
        ]))
val_dataloader = dict(dataset=dict(path='data/lfw_144px'))
test_dataloader = val_dataloader
