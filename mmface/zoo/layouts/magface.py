"""MagFace: InsightFace's keys, another epsilon, another input."""
from .iresnet import IResNetLayout


class MagFace(IResNetLayout):
    """Read with OpenCV and divided by 255; its batch norms add 2e-5 to the variance. The head is ``fc.weight`` beside the features."""
    name = 'magface'
    project = 'MagFace (iresnet)'
    wrappers = ('features.', 'features.module.')
    prefix = 'features.module.'
    inside = 'state_dict'
    color, mean, std = 'BGR', (0., 0., 0.), (255., 255., 255.)
    eps = 2e-5
