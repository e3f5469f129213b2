"""Models for tables: read a table, fit a model to it, save it, and predict new tables."""

from .errors import DirectoryMismatch, DoubtfulTarget, TableTooLarge, TargetError
from .fit import fit_table
from .reading.table import read_table
from .result import TableFit
from .saved import Facts, SavedModel, load_model, predict_table, save_model

__all__ = [
    "DirectoryMismatch",
    "DoubtfulTarget",
    "Facts",
    "SavedModel",
    "TableFit",
    "TableTooLarge",
    "TargetError",
    "fit_table",
    "load_model",
    "predict_table",
    "read_table",
    "save_model",
]
