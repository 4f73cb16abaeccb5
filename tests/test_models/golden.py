"""The worked float64 values of every loss, as constructor arguments of ours; read from the reference material beside the checkout."""
import json
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

from mmface.registry import MODELS

_BEYOND_PI = dict(mm='monotone', easy='easy', none='none', clip='clip')


def _arcface(p: dict) -> dict:
    return dict(s=p['s'], m=p['m'], beyond_pi=_BEYOND_PI[p['fallback']], clip_eps=p.get('eps', 1e-4), detach_margin=p.get('ste', False))


def _adaface(p: dict) -> dict:
    return dict(
        s=p['s'], m=p['m'], h=p['h'], momentum=p['t_alpha'], detach_margin=p['style'] == 'cvl', clip=p['style'] != 'paper',
        scale_g_add=not p.get('gadd_unscaled', False))


def _gb_cosface(p: dict) -> dict:
    return dict(s=p['s'], m=p['m'], alpha=p['alpha'], gamma=p['gamma'], clamp=tuple(p['clamp']), detach_boundary=p['detach'])


def _sphereface_r(p: dict) -> dict:
    return dict(s=p['s'], m=p['m'], version=p['version'], lw=p.get('lw'), detach_margin=p['cgd'])


def _sphereface2(p: dict) -> dict:
    return dict(_some(p, 'kind', 'lam', 'r', 'm', 't', 'lw'), detach_margin=p['cgd'])


def _some(p: dict, *names: str) -> dict:
    return {name: p[name] for name in names}


#: Our loss and its arguments from a case's parameters. The family is the id's beginning; the longest one that fits is meant.
FAMILIES = {
    'softmax': ('SoftmaxLoss', lambda p: {}),
    'l2_softmax': ('L2SoftmaxLoss', lambda p: _some(p, 'alpha')),
    'normface': ('NormFaceLoss', lambda p: _some(p, 's')),
    'coco': ('COCOLoss', lambda p: dict(alpha=p['s'])),
    'l_softmax': ('LSoftmaxLoss', lambda p: _some(p, 'm', 'lam')),
    'a_softmax': ('SphereFaceLoss', lambda p: _some(p, 'm', 'lam')),
    'cosface': ('CosFaceLoss', lambda p: _some(p, 's', 'm')),
    'arcface': ('ArcFaceLoss', _arcface),
    'combined': ('CombinedMarginLoss', lambda p: _some(p, 's', 'm1', 'm2', 'm3')),
    'sphereface': ('SphereFaceRLoss', _sphereface_r),
    'sphereface2': ('SphereFace2Loss', _sphereface2),
    'p2sgrad': ('P2SGradLoss', lambda p: _some(p, 'reduction')),
    'gb_cosface': ('GBCosFaceLoss', _gb_cosface),
    'adaface': ('AdaFaceLoss', _adaface),
    'magface': ('MagFaceLoss', lambda p: _some(p, 's', 'l_a', 'u_a', 'l_m', 'u_m', 'lambda_g', 'easy_margin')),
    'curricularface': ('CurricularFaceLoss', lambda p: dict(s=p['s'], m=p['m'], momentum=p['alpha'])),
    'mv': ('MVSoftmaxLoss', lambda p: _some(p, 's', 'm', 'w', 'kind')),
    'elastic': ('ElasticFaceLoss', lambda p: _some(p, 's', 'kind')),
    'uniface': ('UniFaceLoss', lambda p: _some(p, 's', 'm', 'l', 'r')),
    'subcenter_arcface': ('ArcFaceLoss', _arcface),
    'vpl_arcface': ('ArcFaceLoss', _arcface),
    'broadface_arcface': ('ArcFaceLoss', _arcface),
}
#: Heads other than the plain one, by family, and their arguments.
HEADS = {
    'vpl_arcface': lambda p: dict(type='VPLHead', lam=p['lam'], start_iter=0),
    'broadface_arcface': lambda p: dict(type='BroadFaceHead', queue_size=len(p['qx']), compensate=p['compensate']),
}
#: Buffers of head or loss before the step, by the case's name for them.
STATE = dict(mean0='norm_mean', std0='norm_std', p_vg='p_vg', t0='t')


_FILE = Path(__file__).resolve().parents[3] / 'shared' / 'reference' / 'golden_losses.json'
GOLDEN = json.loads(_FILE.read_text()) if _FILE.is_file() else dict(cases=[], ema={}, inputs={})
if _FILE.is_file():
    ALL = [pytest.param(case, GOLDEN['inputs'][case['input']], id=case['id']) for case in GOLDEN['cases']]
else:
    ALL = [pytest.param(None, None, marks=pytest.mark.skip(f'needs {_FILE.name}, which is no part of the project'))]


def cases(fits: Callable[[dict], bool]) -> list:
    """Parameters ``case, inputs`` of the cases that fit; of a skipped test where there is no file."""
    return [param for param in ALL if param.values[0] is None or fits(param.values[0])]


def family(case: dict) -> str | None:
    return max((name for name in FAMILIES if case['id'].startswith(name)), key=len, default=None)


def build_head(case: dict, inputs: dict, dtype: torch.dtype = torch.float64, set_bias: bool = True,
               **arguments_of_head) -> tuple[nn.Module, Tensor]:
    """A head with the case's loss, prototypes and state before the step, and the embeddings to give it."""
    type_, arguments = FAMILIES[family(case)]
    p = case['params']
    weight = torch.tensor(case.get('W_override', inputs['W']), dtype=dtype)
    num_centers = p.get('K', 1)
    head = MODELS.build(dict(
        HEADS.get(family(case), lambda p: dict(type='FaceClsHead', num_centers=num_centers))(p),
        num_classes=len(weight) // num_centers, in_channels=weight.shape[1], loss=dict(type=type_, **arguments(p)),
        **arguments_of_head)).to(dtype)
    head.weight.data.copy_(weight)
    if case['bias'] is True:
        head.bias.data.copy_(torch.tensor(inputs['b']))
    loss = head.loss_module
    for theirs, ours in STATE.items():
        if p.get(theirs) is not None:
            loss.get_buffer(ours).fill_(p[theirs])
    if 'memory' in p:
        head.memory.copy_(torch.tensor(p['memory']))
        head.seen.copy_(torch.tensor(p['fresh']) - 1)
    if 'qx' in p:
        head.queue_embeddings.copy_(torch.tensor(p['qx']))
        head.queue_labels.copy_(torch.tensor(p['qy']))
        head.queue_prototypes.copy_(torch.tensor(p['qw']))
    if 'bias_init' in case and set_bias:  # without what fp32 rounded off
        loss.bias.data.fill_(case['bias_init'])
    if 'margins' in p:
        loss.draw = lambda n: torch.tensor(p['margins'], dtype=dtype)
    return head, torch.tensor(inputs['X'], dtype=dtype, requires_grad=True)


def gradients(case: dict, head: nn.Module, x: Tensor) -> list[tuple[Tensor, Tensor]]:
    """Pairs of a computed gradient and the case's."""
    computed = dict(dX=x.grad, dW=head.weight.grad)
    if 'db' in case:
        computed['db'] = head.bias.grad
    if 'dbias' in case:
        computed['dbias'] = head.loss_module.bias.grad
    return [(value, torch.tensor(case[name], dtype=value.dtype)) for name, value in computed.items()]


def loss_per_sample(case: dict, x: Tensor) -> Tensor:
    """The case's loss per sample; it states the cross entropy alone, without SphereFace-R's factor and MagFace's regulariser."""
    loss, p = x.new_tensor(case['per_sample_loss']), case['params']
    if p.get('lw_over_s'):
        return loss * p['lw'] / p['s']
    if 'lambda_g' in p:
        norm = x.detach().norm(dim=1).clamp(p['l_a'], p['u_a'])
        return loss + p['lambda_g'] * (norm / p['u_a']**2 + 1 / norm)
    return loss


def state_after(case: dict) -> dict[str, float]:
    """The buffers that the case states after its step, by our names."""
    names = dict(mu='norm_mean', sd='norm_std', p_vg_next='p_vg', t_after='t')
    return {ours: case[theirs] for theirs, ours in names.items() if theirs in case}
