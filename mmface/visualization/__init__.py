"""Pictures of results, in matplotlib without pyplot: functions that draw on axes they are given, and whole figures."""
from .cmc_plot import draw_cmc
from .det_plot import draw_det
from .fold_plot import draw_fold_accuracy
from .pair_strip import draw_pair_strip, pairs_to_show
from .rejection_plot import draw_rejection
from .report import ReportCase, write_report
from .roc_plot import draw_roc
from .similarity_plot import draw_similarities
from .style import new_axes, new_figure, save_figure
from .verification_picture import verification_picture

__all__ = [
    'ReportCase', 'draw_cmc', 'draw_det', 'draw_fold_accuracy', 'draw_pair_strip', 'draw_rejection', 'draw_roc', 'draw_similarities',
    'new_axes', 'new_figure', 'pairs_to_show', 'save_figure', 'verification_picture', 'write_report'
]
