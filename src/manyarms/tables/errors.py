"""Errors of tables, with what a front end needs to phrase its own advice."""

from __future__ import annotations

from ..errors import ManyarmsError


class TargetError(ValueError):
    """The target column does not exist, or cannot be predicted.

    Attributes:
        column: Name of the target column.
    """

    def __init__(self, message: str, column: str = "") -> None:
        super().__init__(message)
        self.column = column


class DoubtfulTarget(TargetError):
    """The target looks like a row identifier or free text. `force=True` accepts it.

    Attributes:
        doubt: Why it looks like that.
    """

    def __init__(self, doubt: str, column: str = "") -> None:
        super().__init__(f"Nothing useful can be predicted: {doubt}. Choose another target, or pass force=True.", column)
        self.doubt = doubt


class DirectoryMismatch(ManyarmsError):
    """The directory holds the search for another model.

    Attributes:
        directory: The directory.
        difference: How the search in it differs, such as "with another seed".
    """

    def __init__(self, directory: object, difference: str) -> None:
        super().__init__(f"{directory} holds a search {difference}. Choose another directory, or delete this one.")
        self.directory, self.difference = directory, difference


class TableTooLarge(ManyarmsError, MemoryError):
    """A table does not fit into memory.

    Attributes:
        problem: What takes how much memory, and how much is free.
        rows: Number of rows that would fit; None if unknown.
    """

    def __init__(self, problem: str, rows: int | None = None) -> None:
        sample = "rows=..." if rows is None else f"rows={rows}"
        super().__init__(f"{problem}. Use a random sample of its rows ({sample}), drop columns, or use a larger machine.")
        self.problem, self.rows = problem, rows
