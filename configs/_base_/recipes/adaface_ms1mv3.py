# All but the loss of AdaFace's experiments: IResNet-50 (a config changes the depth), MS1MV3, 2 x 256 images, 26 epochs, the paper's
# augmentation, tested with the sum of an image's and its mirror image's embeddings. The official runs use fp16: --amp.
_base_ = [
    '../models/ir50.py',
    '../datasets/ms1mv3.py',
    '../pipelines/quality.py',
    '../schedules/sgd_2xb256_26e.py',
    '../evaluation/verification.py',
    '../default_runtime.py',
]

model = dict(predict_mirrored=True, head=dict(num_classes=93431))
train_dataloader = dict(batch_size=256, dataset=dict(pipeline={{_base_.train_pipeline}}))
val_evaluator = dict(flip='add')
test_evaluator = val_evaluator
