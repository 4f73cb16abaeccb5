"""InsightFace's ``arcface_torch``."""
from .iresnet import IResNetLayout


class InsightFace(IResNetLayout):
    """``backbone.pth`` and ``model.pt``: iresnet18 to iresnet200, also of ElasticFace, TransFace and the trainers that started from it."""
    name = 'insightface'
    project = 'InsightFace (iresnet)'
