"""Tables: reading them, what is to be learned from them, and models of them in folders."""

from .reading.memory import TableTooLarge
from .reading.table import read_table
from .saved import Facts, SavedModel, load_model, save_model
from .task import held_out, task_of, with_target

__all__ = [
    "Facts",
    "SavedModel",
    "TableTooLarge",
    "held_out",
    "load_model",
    "read_table",
    "save_model",
    "task_of",
    "with_target",
]
