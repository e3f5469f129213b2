"""The plan of a search with a time limit: how many rows and folds, and whether pulls need their own process."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .column_kinds import CATEGORY, DATE, FEW, MANY, NOTHING, NUMBER, TEXT, topics_per_text
from .number_formats import NumberFormat

_WIDTHS = {
    NUMBER: 1,
    DATE: 6,
    CATEGORY: FEW // 2,
    MANY: FEW,
    NOTHING: 0,
}  # approximate number of columns after preparation
_FOLDS_SHARE = 0.25  # share of the time for a quick model on all folds; if it takes longer, there is a single fold
_PULL_SHARE = 0.15  # share of the time for a quick model on a single fold; if it takes longer, fewer rows are used
_PREPARED_CELLS = 1 << 27  # maximum number of cells in the prepared rows: one gigabyte
_FEWEST, _FEWEST_OF_A_CLASS, _FEWEST_OF_ALL = (
    500,
    5,
    10_000,
)  # smallest numbers of rows: in total, per class, and in total for very many classes
_LONGER = 1.1  # safety factor for the predicted time of retraining on all rows
_STEEPNESS = 1.0  # exponent of that time in the number of rows
_SMALL = 5_000_000  # cells times classes, up to which every slice of training is short
_LONG = 20.0  # minimum seconds of search for which starting a process is worthwhile


@dataclass(frozen=True, slots=True)
class Size:
    """The size of a problem.

    Args:
        rows: Number of rows.
        columns: Number of columns after preparation.
        classes: Number of classes; 0 for regression.
    """

    rows: int
    columns: int
    classes: int

    @property
    def work(self) -> int:
        """The relative cost of a simple training on all rows."""
        return self.rows * self.columns * max(1, self.classes)


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns of a table.

    Args:
        kinds: What each column holds.
        width: Approximate number of columns after preparation; for a sparse table, the stored values per row.
        sparse: Number of columns of a sparse table; 0 if the table is dense.
        formats: How numbers are written in columns of text, by position.
    """

    kinds: Sequence[str]
    width: int
    sparse: int = 0
    formats: Mapping[int, NumberFormat] = field(default_factory=dict)

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters of a pipeline that prepares them. A sparse table has only numbers."""
        return {} if self.sparse else {"prepare__kinds": list(self.kinds), "prepare__formats": dict(self.formats)}


@dataclass(frozen=True, slots=True)
class Plan:
    """The plan of a search.

    Args:
        folds: Number of folds; 1 means a single validation set.
        rows: Number of rows that are used.
    """

    folds: int
    rows: int


def width(kinds: Sequence[str]) -> int:
    """The approximate number of columns after preparation.

    >>> width(["number", "number", "category", "nothing"])
    12
    """
    texts = sum(kind == TEXT for kind in kinds)
    return max(1, sum(topics_per_text(texts) if kind == TEXT else _WIDTHS[kind] for kind in kinds))


def plan_of(size: Size, folds: int, seconds: float, seconds_per_row: float, may_change: bool = True) -> Plan:
    """The plan for a search with a time limit.

    Args:
        size: Size of the problem.
        folds: Number of folds without a time limit.
        seconds: Time limit of the search.
        seconds_per_row: Time per row to prepare, train and score a quick model.
        may_change: Whether cross-validation may be replaced by a single validation set.

    >>> plan_of(Size(rows=400, columns=10, classes=2), 5, seconds=5.0, seconds_per_row=1e-5)
    Plan(folds=5, rows=400)
    >>> plan_of(Size(rows=500_000, columns=10, classes=2), 1, seconds=5.0, seconds_per_row=2.5e-5)
    Plan(folds=1, rows=30000)
    >>> plan_of(Size(rows=500_000, columns=10, classes=2), 1, seconds=600.0, seconds_per_row=2e-5)
    Plan(folds=1, rows=500000)
    """
    if may_change and folds > 1 and folds * seconds_per_row * size.rows > _FOLDS_SHARE * seconds:
        folds = 1
    share = _PULL_SHARE if folds == 1 else _FOLDS_SHARE / folds
    rows = min(size.rows, share * seconds / max(seconds_per_row, 1e-12), _PREPARED_CELLS / size.columns)
    if seconds < _LONG:  # too short for a separate process, so every slice must be short
        rows = min(rows, _SMALL / (size.columns * max(1, size.classes)))
    fewest = max(_FEWEST, min(_FEWEST_OF_A_CLASS * size.classes, max(_FEWEST_OF_ALL, size.classes)))
    return Plan(folds, min(size.rows, max(int(rows), fewest)))


def retrain_seconds(seconds: float, growth: float) -> float:
    """Predict the time to retrain a model on more rows, with a safety margin.

    Args:
        seconds: Time that its training took.
        growth: Ratio of the new number of rows to the old one.

    >>> round(retrain_seconds(10.0, 1.25), 1)
    13.8
    """
    return float(_LONGER * seconds * growth**_STEEPNESS)


def needs_process(size: Size, seconds: float) -> bool:
    """Whether pulls need their own process, which can be killed: only if some of them may be long.

    >>> small, large = Size(1_000, 10, 2), Size(500_000, 10, 2)
    >>> needs_process(small, 600.0), needs_process(large, 600.0), needs_process(large, 5.0)
    (False, True, False)
    """
    return seconds >= _LONG and size.work > _SMALL
