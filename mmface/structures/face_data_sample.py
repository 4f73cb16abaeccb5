"""The one object that travels between data set, recognizer and metric."""
from collections.abc import Sequence

import torch
from mmengine.structures import BaseDataElement

VECTORS = ('embedding', 'mirrored_embedding')  #: fields that are a vector an image; the others are a number


class FaceDataSample(BaseDataElement):
    """What is known of one face image, or of a batch of B of them.

    Data fields, each absent until somebody sets it:

    - ``gt_label``: int64 ``[1]`` (a batch ``[B]``), the class in ``[0, num_classes)``, or -1 for "ignore this image";
    - ``sample_idx``: int64 ``[1]`` (``[B]``), the position in the data set: what gathers embeddings in order;
    - ``source``: int64 ``[1]`` (``[B]``), which of several training sets the label belongs to, where their label spaces are separate;
    - ``embedding``: float ``[D]`` (``[B, D]``), not normalised: its L2 norm carries quality;
    - ``mirrored_embedding``: likewise, that of the mirrored image.

    Meta information (``img_path``, ``record`` ...) belongs to single images and is dropped by :meth:`batch`.
    """

    @classmethod
    def batch(cls, samples: 'FaceDataSample | Sequence[FaceDataSample]') -> 'FaceDataSample':
        """Joins the samples of B images into one whose fields have a leading dimension B; a batch is returned as it is.

        Raises:
            ValueError: for an empty list, or where the samples do not have the same fields.
        """
        if isinstance(samples, cls):
            return samples
        samples = list(samples)
        if not samples:
            raise ValueError('FaceDataSample.batch needs at least one sample, got an empty list')
        fields = set(samples[0].keys())
        for at, sample in enumerate(samples):
            if set(sample.keys()) != fields:
                raise ValueError(f'sample 0 has the fields {sorted(fields)}, sample {at} has {sorted(sample.keys())}: '
                                 'all samples of a batch need the same')
        joined = cls()
        for name in fields:
            values = [torch.as_tensor(sample.get(name)) for sample in samples]
            values = [v.reshape(1, -1) if name in VECTORS else v.reshape(-1) for v in values]
            joined.set_data({name: torch.cat(values)})
        return joined

    def split(self) -> 'list[FaceDataSample]':
        """The inverse of :meth:`batch`: one sample an image. Fields are views of this batch's."""
        fields = dict(self.items())
        if not fields:
            raise ValueError('an empty FaceDataSample cannot be split: it does not say how many images it stands for')
        sizes = {name: len(value) for name, value in fields.items()}
        if len(set(sizes.values())) != 1:
            raise ValueError(f'the fields of a batch need one length, got {sizes}')
        return [
            type(self)(**{name: value[i] if name in VECTORS else value[i:i + 1]
                          for name, value in fields.items()}) for i in range(next(iter(sizes.values())))
        ]
