"""The report on a model of a table: one page that needs nothing else."""

from .findings import Findings
from .page import report_page

__all__ = ["Findings", "report_page"]
