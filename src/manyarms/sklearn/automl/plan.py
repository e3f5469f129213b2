"""How a search goes about a table in the time it has: on how many rows, in how many folds, in which process."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .columns import CATEGORY, DATE, FEW, MANY, NOTHING, NUMBER, TEXT

_WIDTHS = {NUMBER: 1, DATE: 6, CATEGORY: FEW // 2, MANY: FEW, TEXT: FEW, NOTHING: 0}  # numbers that a column becomes, about
_FOLDS_SHARE = 0.25  # of the time that a quick model may take in all folds; else there is a holdout
_PULL_SHARE = 0.05  # of the time that a quick model may take on a holdout; else fewer rows are used
_PREPARED_CELLS = 1 << 27  # in the rows that are used: a gigabyte
_FEWEST, _FEWEST_OF_A_CLASS, _FEWEST_OF_ALL = 500, 5, 10_000  # rows that are used in any case, the last for very many classes
_SMALL = 5_000_000  # cells, times the classes: beyond, no part of a training is sure to end soon
_LONG = 20.0  # seconds of search for which it is worth while to start a process


@dataclass(frozen=True, slots=True)
class Size:
    """How large a problem is.

    Args:
        rows: Rows to learn from.
        columns: Numbers that a row becomes.
        classes: Classes to tell apart; 0 for a regression.
    """

    rows: int
    columns: int
    classes: int

    @property
    def work(self) -> int:
        """What a simple training on all rows takes, in no unit."""
        return self.rows * self.columns * max(1, self.classes)


@dataclass(frozen=True, slots=True)
class Plan:
    """How the search goes about it.

    Args:
        folds: How many; 1 is a holdout.
        rows: How many of them are used.
    """

    folds: int
    rows: int


def width(kinds: Sequence[str]) -> int:
    """About how many numbers a row of columns of these kinds becomes.

    >>> width(["number", "number", "category", "nothing"])
    12
    """
    return max(1, sum(_WIDTHS[kind] for kind in kinds))


def plan_of(size: Size, folds: int, seconds: float, seconds_a_row: float, may_change: bool = True) -> Plan:
    """The plan for a search of this many seconds.

    Args:
        size: Of the problem.
        folds: How many there would be without a limit.
        seconds: What the search may take.
        seconds_a_row: What a quick model takes, to prepare a row, to train and to score.
        may_change: Whether the folds may become a holdout.

    >>> plan_of(Size(rows=400, columns=10, classes=2), 5, seconds=5.0, seconds_a_row=1e-5)
    Plan(folds=5, rows=400)
    >>> plan_of(Size(rows=500_000, columns=10, classes=2), 1, seconds=5.0, seconds_a_row=2.5e-5)
    Plan(folds=1, rows=10000)
    >>> plan_of(Size(rows=500_000, columns=10, classes=2), 1, seconds=600.0, seconds_a_row=2e-5)
    Plan(folds=1, rows=500000)
    """
    if may_change and folds > 1 and folds * seconds_a_row * size.rows > _FOLDS_SHARE * seconds:
        folds = 1
    share = _PULL_SHARE if folds == 1 else _FOLDS_SHARE / folds
    rows = min(size.rows, share * seconds / max(seconds_a_row, 1e-12), _PREPARED_CELLS / size.columns)
    if seconds < _LONG:  # too short to start a process for what could take long
        rows = min(rows, _SMALL / (size.columns * max(1, size.classes)))
    fewest = max(_FEWEST, min(_FEWEST_OF_A_CLASS * size.classes, max(_FEWEST_OF_ALL, size.classes)))
    return Plan(folds, min(size.rows, max(int(rows), fewest)))


def is_apart(size: Size, seconds: float) -> bool:
    """Whether pulls run in a process of their own, that can be ended: not where all of them surely end soon.

    >>> is_apart(Size(1_000, 10, 2), 600.0), is_apart(Size(500_000, 10, 2), 600.0), is_apart(Size(500_000, 10, 2), 5.0)
    (False, True, False)
    """
    return seconds >= _LONG and size.work > _SMALL
