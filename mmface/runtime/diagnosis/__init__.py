"""What goes wrong in trainings of face networks, each with its own sign and its own words."""
from .collapse import Collapse
from .colour_order import ColourOrder
from .first_loss import FirstLoss
from .plateau import Plateau
from .shuffled_labels import ShuffledLabels
from .step import Check, Step

__all__ = ['Check', 'Collapse', 'ColourOrder', 'FirstLoss', 'Plateau', 'ShuffledLabels', 'Step']
