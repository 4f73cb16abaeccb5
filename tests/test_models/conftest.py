"""Lets the tests of this folder import the helper modules beside them; a target without engine; what processes that share classes find."""
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


@pytest.fixture(scope='session')
def shared_classes(tmp_path_factory):
    """By the number of processes that share the classes, 1 to 4, what each of them found; see sharded_ranks.py."""
    import sharded_ranks
    folder = tmp_path_factory.mktemp('sharded')
    torch.multiprocessing.spawn(sharded_ranks.main, (str(folder), ), nprocs=4)
    return {world: [torch.load(folder / f'{world}.{rank}.pt') for rank in range(world)] for world in (1, 2, 3, 4)}
