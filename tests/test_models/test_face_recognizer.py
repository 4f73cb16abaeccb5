"""The recognizer's three modes."""
import pytest
import torch

from mmface.registry import MODELS
from mmface.structures import FaceDataSample

TINY = dict(
    type='FaceRecognizer',
    data_preprocessor=dict(type='FaceDataPreprocessor', size=(32, 32)),
    backbone=dict(type='MobileFaceNet', width=.125, out_channels=16),
    neck=dict(type='GDCNeck', in_channels=16, feat_size=2, out_channels=8),
    head=dict(type='FaceClsHead', num_classes=5, in_channels=8, loss=dict(type='CosFaceLoss', s=8.)))


@pytest.fixture
def batch():
    generator = torch.Generator().manual_seed(0)
    return dict(
        inputs=torch.randint(0, 256, (4, 3, 32, 32), dtype=torch.uint8, generator=generator),
        data_samples=[FaceDataSample(gt_label=torch.tensor([i]), sample_idx=torch.tensor([10 + i])) for i in range(4)])


@pytest.fixture
def model():
    torch.manual_seed(0)
    return MODELS.build(TINY)


def test_tensor_gives_raw_embeddings_and_predict_the_same_one_sample_an_image(model, batch):
    model.eval()
    data = model.data_preprocessor(batch)
    embeddings = model(data['inputs'])
    samples = model(**data, mode='predict')
    assert embeddings.shape == (4, 8)
    assert not torch.allclose(embeddings.norm(dim=1), torch.ones(4))
    assert [int(s.sample_idx) for s in samples] == [10, 11, 12, 13]
    torch.testing.assert_close(torch.stack([s.embedding for s in samples]), embeddings)


def test_loss_is_the_heads_on_the_embeddings(model, batch):
    model.eval()
    data = model.data_preprocessor(batch)
    losses = model(**data, mode='loss')
    expected = model.head.compute_loss(model(data['inputs']), torch.arange(4))
    torch.testing.assert_close(losses['loss'], expected['loss'])
    assert set(losses) == {'loss', 'target_cosine'}


def test_a_list_of_samples_and_their_batch_mean_the_same(model, batch):
    model.eval()
    inputs = model.data_preprocessor(dict(inputs=batch['inputs']))['inputs']
    one = model(inputs, batch['data_samples'], mode='loss')['loss']
    assert torch.equal(one, model(inputs, FaceDataSample.batch(batch['data_samples']), mode='loss')['loss'])


def test_train_step_lowers_the_loss_of_its_own_batch(model, batch):
    from mmengine.optim import OptimWrapper
    optim = OptimWrapper(torch.optim.SGD(model.parameters(), lr=.1))
    first = model.train_step(batch, optim)['loss'].detach()
    for _ in range(20):
        last = model.train_step(batch, optim)['loss'].detach()
    assert last < first / 2


def test_any_backbone_of_mmpretrain_fits(batch):
    model = MODELS.build(dict(
        TINY, backbone=dict(type='mmpretrain.ResNet', depth=18), neck=dict(type='FaceNeck', in_channels=512, feat_size=1, out_channels=8)))
    model.eval()
    assert model(model.data_preprocessor(batch)['inputs']).shape == (4, 8)


def test_a_head_that_needs_the_feature_map_gets_it(model, batch):
    seen = []
    model.head.needs_feature_map = True
    model.head.loss = lambda embeddings, samples, feature_map: seen.append(feature_map.shape) or dict(loss=embeddings.sum())
    model(**model.data_preprocessor(batch), mode='loss')
    assert seen == [(4, 16, 2, 2)]


def test_what_cannot_be_done_is_said(model, batch):
    data = model.data_preprocessor(batch)
    with pytest.raises(ValueError, match="'tensor', 'loss' or 'predict'"):
        model(**data, mode='train')
    with pytest.raises(ValueError, match='gt_label'):
        model(data['inputs'], mode='loss')
    with pytest.raises(ValueError, match='no head'):
        MODELS.build(dict(TINY, head=None))(**data, mode='loss')


def test_predictions_are_at_least_fp32_under_autocast(model, batch):
    model.eval()
    data = model.data_preprocessor(batch)
    with torch.autocast('cpu', torch.bfloat16):
        assert model(**data, mode='predict')[0].embedding.dtype == torch.float32


def test_the_mirrored_embedding_is_that_of_the_mirrored_image(model, batch):
    model.eval()
    model.predict_mirrored = True
    inputs = model.data_preprocessor(batch)['inputs']
    mirrored = torch.stack([s.mirrored_embedding for s in model(inputs, mode='predict')])
    by_hand = model(torch.from_numpy(inputs.numpy()[..., ::-1].copy()))
    torch.testing.assert_close(mirrored, by_hand)
    assert not torch.allclose(mirrored, model(inputs))


def test_frozen_parts_neither_learn_nor_move_their_statistics(batch):
    model = MODELS.build(dict(TINY, frozen=['backbone', 'neck'])).train()
    before = {name: value.clone() for name, value in model.state_dict().items()}
    from mmengine.optim import OptimWrapper
    model.train_step(batch, OptimWrapper(torch.optim.SGD([p for p in model.parameters() if p.requires_grad], lr=.1)))
    moved = {name.split('.')[0] for name, value in model.state_dict().items() if not torch.equal(value, before[name])}
    assert moved == {'head'}


def test_predictions_of_an_scf_head_carry_its_kappa(batch):
    head = dict(type='SCFHead', num_classes=5, in_channels=8, feat_channels=16 * 2 * 2, hidden=(8, ))
    model = MODELS.build(dict(TINY, head=head, frozen=['backbone', 'neck'])).eval()
    data = model.data_preprocessor(batch)
    samples = model(**data, mode='predict')
    expected = model.head.kappa(model.extract_feat(data['inputs'], stage='backbone'))
    torch.testing.assert_close(torch.cat([s.kappa for s in samples]), expected)
