"""How much memory a piece of work takes on the CPU."""
import os
from collections.abc import Callable

import torch

os.environ.setdefault('KINETO_LOG_LEVEL', '99')  # or the profiler says on standard error when it starts, stops, and finds no GPU


def peak_allocated(work: Callable[[], object]) -> int:
    """Calls ``work`` and returns the most bytes of tensors alive at once among those made in it; what was there before counts 0."""
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], profile_memory=True, acc_events=True) as profile:
        work()
    events = profile.profiler.kineto_results.events()
    changes = sorted((event.start_ns(), i, event.nbytes()) for i, event in enumerate(events) if event.name() == '[memory]')
    now = peak = 0
    for _, _, change in changes:
        now += change
        peak = max(peak, now)
    return peak
