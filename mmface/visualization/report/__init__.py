"""One HTML file with everything about some models on some sets, which needs nothing but a browser."""
from .report_case import ReportCase
from .write_report import write_report

__all__ = ['ReportCase', 'write_report']
