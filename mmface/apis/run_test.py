"""Testing a checkpoint, as ``tools/test.py`` does it."""
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import mmengine
from mmengine.config import Config
from mmengine.dist import is_main_process
from mmengine.runner import Runner

from mmface.utils.end_together import end_together

from .train import load_config, prepare_devices


def run_test(config: str | Path | Config,
             checkpoint: str | Path,
             *,
             work_dir: str | Path | None = None,
             out: str | Path | None = None,
             amp: bool = False,
             cfg_options: Mapping[str, Any] | None = None,
             launcher: str = 'none') -> dict[str, float]:
    """Runs the test loop of ``config`` with the weights of ``checkpoint``.

    Args:
        config: a config file, or a config.
        checkpoint: the weights.
        work_dir: where logs go; by default the config's, else ``work_dirs/<name of the config>``.
        out: a ``.json`` or ``.yaml`` file to write the numbers to.
        amp: computes the embeddings in mixed precision.
        cfg_options: changes to the config, with dots in the keys of nested ones.
        launcher: what started the processes of a distributed test: ``'pytorch'``, ``'slurm'``, ``'mpi'``, or ``'none'``.

    Returns:
        The numbers of the test evaluator by name.

    Raises:
        FileNotFoundError: where there is no such checkpoint.
        ValueError: where it does not fit the model, the head apart, where the config has no test, or for another ending of ``out``.
    """
    if out is not None and Path(out).suffix not in ('.json', '.yaml', '.yml'):
        raise ValueError(f'out must end in .json, .yaml or .yml, got {out}')
    cfg = load_config(config, work_dir, cfg_options, launcher)
    if cfg.get('test_dataloader') is None:
        raise ValueError(f'{cfg.filename} has no test_dataloader: nothing to test on')
    if '://' not in str(checkpoint) and not Path(checkpoint).is_file():
        raise FileNotFoundError(f'{checkpoint} can not be found.')
    cfg.load_from, cfg.resume = str(checkpoint), False
    if amp:
        cfg.test_cfg.fp16 = True
    prepare_devices(cfg)
    with end_together():
        numbers = Runner.from_cfg(cfg).test()
    if out is not None and is_main_process():
        mmengine.dump(numbers, str(out))
    return numbers
