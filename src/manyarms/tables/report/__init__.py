"""The report on the model of a table: one HTML page that opens offline."""

from .findings import Findings, columns_frame, unused_columns
from .importance import column_importance, importance_seconds
from .page import report_page

__all__ = ["Findings", "column_importance", "columns_frame", "importance_seconds", "report_page", "unused_columns"]
