"""Lets the tests of this folder import the helper modules beside them; a target without engine."""
import sys
from pathlib import Path

import pytest
import torch

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture
def target():
    """Makes a :class:`Target` of given cosines, as an engine would, with feature and prototype norms."""
    from mmface.models import Target

    def make(cosines, feature_norm=1., prototype_norm=1.):
        similarity = torch.as_tensor(cosines, dtype=torch.float64)
        return Target(similarity, torch.full_like(similarity, feature_norm), torch.full_like(similarity, prototype_norm), statistic=None)

    return make
