"""When a training loop validates, and how it knows whether it has."""
from mmengine.runner import BaseLoop

_KEY = 'last_validation'  # not 'val...': the log would show it as a result


def validate_if_due(loop: BaseLoop, at: int, last: int) -> None:
    """Runs the validation loop if the schedule has one after epoch (or iteration) ``at`` of ``last``, unless it was done already.

    Checkpoints are written before the validation of the same moment. A run resumed from one asks again, so the validation that the
    interruption swallowed, and the best checkpoint that may come of it, is caught up with.
    """
    runner = loop.runner
    loop._decide_current_val_interval()
    due = runner.val_loop is not None and at >= max(loop.val_begin, 1) and (at % loop.val_interval == 0 or at == last)
    if due and runner.message_hub.get_info(_KEY) != runner.iter:
        runner.message_hub.update_info(_KEY, runner.iter)
        runner.val_loop.run()
