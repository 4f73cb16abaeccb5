"""The one place that knows colours and numbers."""
import numpy as np
import pytest
import torch

from mmface.models import FaceDataPreprocessor
from mmface.structures import FaceDataSample


def by_hand(images: np.ndarray, mean, std, bgr: bool) -> np.ndarray:
    """NumPy, pixel by pixel: images uint8 RGB [B, 3, H, W]."""
    out = np.empty(images.shape)
    for channel in range(3):
        source = 2 - channel if bgr else channel
        out[:, channel] = (images[:, source].astype(np.float64) - mean[channel]) / std[channel]
    return out


@pytest.mark.parametrize('color', ['RGB', 'BGR'])
def test_bytes_become_what_the_network_eats_in_its_own_colour_order(color):
    images = np.random.default_rng(0).integers(0, 256, (4, 3, 6, 5), np.uint8)
    mean, std = (123.675, 116.28, 103.53), (58.395, 57.12, 57.375)
    out = FaceDataPreprocessor(mean, std, color, size=(6, 5))(dict(inputs=torch.from_numpy(images)))
    np.testing.assert_allclose(out['inputs'], by_hand(images, mean, std, color == 'BGR'), rtol=1e-6, atol=1e-6)
    assert out['data_samples'] is None


def test_lists_are_stacked_and_labels_become_one_tensor():
    data = dict(
        inputs=[torch.full((3, 2, 2), i, dtype=torch.uint8) for i in range(3)],
        data_samples=[FaceDataSample(gt_label=torch.tensor([i + 5]), sample_idx=torch.tensor([i])) for i in range(3)])
    out = FaceDataPreprocessor(size=(2, 2))(data)
    assert out['inputs'].shape == (3, 3, 2, 2)
    assert out['data_samples'].gt_label.tolist() == [5, 6, 7]
    assert out['data_samples'].sample_idx.tolist() == [0, 1, 2]


@pytest.mark.parametrize('color', ['RGB', 'BGR'])
def test_the_input_is_left_as_it_was(color):
    images = torch.full((1, 3, 2, 2), 7, dtype=torch.uint8)
    floats = images.float()
    FaceDataPreprocessor(size=(2, 2), color=color)(dict(inputs=floats))
    assert torch.equal(floats, images.float())


def test_images_of_another_size_are_refused_with_both_sizes():
    with pytest.raises(ValueError, match=r'144 x 144.*\[1, 3, 112, 112\]'):
        FaceDataPreprocessor(size=(144, 144))(dict(inputs=torch.zeros(1, 3, 112, 112)))


@pytest.mark.parametrize(('wrong', 'message'), [
    (dict(color='rgb'), "'RGB' or 'BGR'"),
    (dict(std=(1, 0, 1)), 'greater than 0'),
    (dict(mean=(1, )), 'three'),
])
def test_impossible_settings_are_refused(wrong, message):
    with pytest.raises(ValueError, match=message):
        FaceDataPreprocessor(**wrong)


def test_whole_numbers_in_a_config_still_make_floats():
    out = FaceDataPreprocessor((0, 0, 0), (255, 255, 255), size=(1, 1))(dict(inputs=torch.full((1, 3, 1, 1), 51, dtype=torch.uint8)))
    torch.testing.assert_close(out['inputs'], torch.full((1, 3, 1, 1), .2))


def test_channels_last_changes_the_layout_and_no_number():
    images = dict(inputs=torch.randint(0, 256, (2, 3, 4, 5), dtype=torch.uint8, generator=torch.Generator().manual_seed(0)))
    plain, last = (FaceDataPreprocessor(size=(4, 5), channels_last=flag)(images)['inputs'] for flag in (False, True))
    assert torch.equal(plain, last)
    assert plain.is_contiguous()
    assert last.is_contiguous(memory_format=torch.channels_last)
