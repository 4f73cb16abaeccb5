"""What the papers draw and count, computed from the registered losses."""
from .boundaries import boundary_angle, boundary_on_sphere
from .curves_file import write_curves
from .loss_probe import LossProbe, Response, loss_name, parse_loss

__all__ = ['LossProbe', 'Response', 'boundary_angle', 'boundary_on_sphere', 'loss_name', 'parse_loss', 'write_curves']
