"""What a network costs, without its memory: counted on torch's meta device."""
import json
from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

import torch
from mmengine.model import BaseModel
from torch.utils.flop_counter import FlopCounterMode

from ..build_network import build_network


class Complexity(NamedTuple):
    """Of a network that embeds, on one image.

    Attributes:
        parameters: their number.
        flops: multiply-adds of convolutions, matrix products and attention, one each, as OpenMMLab counts; torch counts two.
        dim: of the embedding.
    """
    parameters: int
    flops: int
    dim: int


def complexity(model: Mapping[str, Any]) -> Complexity:
    """Counts for a recognizer's config; the head is left out.

    Raises:
        ValueError: the network gives no embedding [1, D] for an image of its size.
    """
    plain = model.to_dict() if hasattr(model, 'to_dict') else dict(model)
    return _count(json.dumps({key: value for key, value in plain.items() if key != 'head'}, sort_keys=True, default=list))


@cache
def _count(model: str) -> Complexity:
    """Many configs train one network, so it is counted once; the argument is JSON, which can be looked up."""
    network = _on_meta(json.loads(model))
    height, width = network.data_preprocessor.size
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        embedding = network(torch.empty(1, 3, height, width, device='meta'))
    if embedding.ndim != 2:
        raise ValueError(f'gives {list(embedding.shape)} for one image of {height} x {width}, expected [1, D]')
    return Complexity(sum(parameter.numel() for parameter in network.parameters()), counter.get_total_flops() // 2, embedding.shape[1])


def _on_meta(model: Mapping[str, Any]) -> BaseModel:
    try:
        with torch.device('meta'):
            return build_network(model)
    except RuntimeError:  # some of mmpretrain's networks read numbers off tensors while they are built
        return build_network(model).to('meta')
