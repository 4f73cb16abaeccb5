"""What several processes that share the classes find; a module of its own so that it can be spawned."""
from datetime import timedelta

import sharded_cases
import sharded_errors
import sharded_optim
import torch
import torch.distributed as dist
from sharded_cases import CASES, CLASSES, IN_DDP

from mmface.functional.collective_chain import CollectiveChain


def loaded(rank, world):
    """This rank's rows of a whole state dict after loading it, and the names in the own state dict."""
    whole = sharded_cases.build(dict(CASES['head_vpl-store-64'][0], seed=5), 7, torch.float64, sharded=False)
    head = sharded_cases.build(CASES['head_vpl-store-64'][0], 7, torch.float64, sharded=True)
    whole.memory.copy_(torch.arange(7.).unsqueeze(1))
    problems = head.load_state_dict(whole.state_dict())
    start, stop = head.classes
    equal = torch.equal(head.weight, whole.weight[start:stop]) and torch.equal(head.memory, whole.memory[start:stop])
    return dict(equal=equal, problems=list(problems.missing_keys + problems.unexpected_keys), names=list(head.state_dict()),
                classes=head.classes)


def chained(rank, world):
    """What :func:`chain_outcome` has to say of one rank in one process, and the gradient of it."""
    x = chain_inputs()[rank].requires_grad_()
    chain = CollectiveChain(x.device)
    total, = chain.sum(x.clamp(-3, 3))
    lse = chain.logsumexp(chain_part(x, total, rank))
    chain.shared(chain_outcome(lse)).backward()
    return dict(total=total.detach(), lse=lse.detach(), gradient=x.grad)


def chain_inputs():
    x = torch.randn(4, 5, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    x[0, 0] = x[2, 1] = -torch.inf
    x[:, 2] = -torch.inf
    x[:, 3] += 1000
    return x


def chain_part(x, total, rank):
    """Something of one rank that depends on what all have summed, but on the first rank does not: nothing leads back from there."""
    return x + total.tanh() if rank else x.detach()


def chain_outcome(lse):
    return (lse[lse.isfinite()]**2).sum()


def main(rank, folder):
    torch.set_num_threads(1)
    for world in range(max(CLASSES), rank, -1):  # the rank that drops out has no more to do
        dist.init_process_group(
            'gloo', init_method=f'file://{folder}/meeting{world}', rank=rank, world_size=world, timeout=timedelta(seconds=180))
        where = (CLASSES[world], rank, world, True)
        found = dict(loaded=loaded(rank, world), chained=chained(rank, world))
        found['steps'] = {name: sharded_cases.run(*case, *where) for name, case in CASES.items()}
        if world < 4:
            found['trainings'] = {name: sharded_cases.train(CASES[name][0], *where) for name in IN_DDP}
            found['optim'] = {name: sharded_optim.train(name, rank, world, True) for name in sharded_optim.OPTIMIZERS}
            found['overflow'], found['mixed'] = sharded_optim.overflow(rank, world), sharded_optim.mixed(rank, world, True)
        if world == 2:
            found['told'] = sharded_errors.told(rank, world)
        torch.save(found, f'{folder}/{world}.{rank}.pt')
        dist.barrier()
        dist.destroy_process_group()
