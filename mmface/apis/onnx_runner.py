"""How a session gets its input and gives its outputs: through plain arrays, or through buffers that a GPU reads directly."""
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

from .onnx_session import CPU

Run = Callable[[np.ndarray], list[np.ndarray]]
"""One batch as the file takes it -> the outputs asked for."""


def session_runner(session: Any, input_name: str, outputs: Sequence[str]) -> Run:
    """The fastest way that fits what the session runs on."""
    if session.get_providers()[0] == CPU:
        return lambda batch: session.run(outputs, {input_name: batch})
    return BoundRunner(session, input_name, outputs, pin=torch.cuda.is_available())


class BoundRunner:
    """Runs a session by IO binding, its input from page-locked memory, which a GPU copies from without a detour.

    Args:
        session: an ``onnxruntime.InferenceSession``.
        input_name: of its one input.
        outputs: names of the outputs to return.
        pin: whether to lock the input's pages; needs a torch with CUDA.
    """

    def __init__(self, session: Any, input_name: str, outputs: Sequence[str], pin: bool) -> None:
        self.session, self.input_name, self.outputs, self.pin = session, input_name, outputs, pin
        self.binding = session.io_binding()
        self.buffer = torch.empty(0, dtype=torch.uint8)

    def __call__(self, batch: np.ndarray) -> list[np.ndarray]:
        """Runs one batch; what is returned belongs to the caller."""
        self.binding.bind_cpu_input(self.input_name, self._stage(batch) if self.pin else batch)
        for name in self.outputs:
            self.binding.bind_output(name, 'cpu')
        self.session.run_with_iobinding(self.binding)
        return self.binding.copy_outputs_to_cpu()

    def _stage(self, batch: np.ndarray) -> np.ndarray:
        """A copy in the buffer, which grows to the largest batch so far."""
        if self.buffer.numel() < batch.nbytes:
            self.buffer = torch.empty(batch.nbytes, dtype=torch.uint8, pin_memory=True)
        staged = self.buffer.numpy()[:batch.nbytes].view(batch.dtype).reshape(batch.shape)
        np.copyto(staged, batch)
        return staged
