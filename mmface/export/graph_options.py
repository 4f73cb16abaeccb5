"""What an exported file takes and gives."""
from dataclasses import dataclass

LAYOUTS = ('NHWC', 'NCHW')


@dataclass(frozen=True)
class GraphOptions:
    """Choices about the graph around the network.

    Attributes:
        layout: of the images, ``'NHWC'`` or ``'NCHW'``.
        preprocessing: whether the file takes uint8 RGB and does the rest; otherwise it takes float32, ``(x - mean) / std`` in the
            network's own colour order, which is then the caller's business.
        flip: whether the embedding is the raw sum of those of the image and of its mirror image; twice the work.
        normalize: whether the embedding has length 1, after the sum.
        norm: whether there is a second output, ``norm`` [B], the length before normalisation: what quality is read off.

    Raises:
        ValueError: for an unknown layout.
    """
    layout: str = 'NHWC'
    preprocessing: bool = True
    flip: bool = False
    normalize: bool = False
    norm: bool = False

    def __post_init__(self) -> None:
        if self.layout not in LAYOUTS:
            raise ValueError(f'layout is one of {", ".join(LAYOUTS)}, got {self.layout!r}')

    @property
    def outputs(self) -> list[str]:
        """Names of the outputs."""
        return ['embedding', 'norm'] if self.norm else ['embedding']
