"""Whether a target is a class or a number, and whether it is worth predicting."""

from __future__ import annotations

from typing import Any

import pandas as pd

from .columns import FLAG, TEXT, dtype_kind
from .wording import counted

CLASSIFICATION, REGRESSION = "classification", "regression"

FEW_CLASSES = 20
"""The largest number of distinct whole numbers that are treated as classes."""

_ROWS_PER_CLASS = 10  # on average, at least, for whole numbers to be classes
_ENOUGH_ROWS = 50  # for consecutive numbers not to be a coincidence
_ID_SHARE, _TEXT_SHARE = 0.5, 0.2  # distinct values per row, beyond which a target is an identifier, or free text
_WORDS_OF_TEXT = 3.0  # words per value of free text, on average


def task_of(target: pd.Series[Any]) -> tuple[str, str]:
    """Whether the target is a class or a number, and the reason.

    >>> import pandas as pd
    >>> task_of(pd.Series(["cat", "dog", "cat"]))
    ('classification', 'text')
    >>> task_of(pd.Series([1.5, 2.5, 4.0]))
    ('regression', 'numbers')
    """
    kind, distinct = dtype_kind(target.dtype), target.nunique()
    if kind == TEXT:
        return CLASSIFICATION, "text"
    if kind == FLAG or distinct <= 2:
        return CLASSIFICATION, f"{counted(distinct, 'distinct value')}"
    whole = bool((target == target.round()).all())
    if whole and are_classes(distinct, len(target)):
        return CLASSIFICATION, f"{distinct} distinct whole numbers"
    return REGRESSION, "numbers"


def are_classes(distinct: int, rows: int) -> bool:
    """Whether this many distinct numbers can be classes: at most two, or at most 20 with enough rows each.

    >>> are_classes(2, 3), are_classes(20, 200), are_classes(21, 1_000), are_classes(20, 199)
    (True, True, False, False)
    """
    return distinct <= 2 or distinct <= min(FEW_CLASSES, rows // _ROWS_PER_CLASS)


def doubt_about(target: pd.Series[Any], task: str) -> str | None:
    """Why a target looks like a row identifier or free text rather than something to predict; None if it does not.

    >>> import pandas as pd
    >>> doubt_about(pd.Series(range(100), name="row"), "regression")
    "'row' numbers the rows"
    >>> doubt_about(pd.Series(["a", "b"] * 50, name="kind"), "classification") is None
    True
    """
    rows, distinct = len(target), target.nunique()
    if task == REGRESSION:
        return f"{target.name!r} numbers the rows" if rows >= _ENOUGH_ROWS and _numbers_rows(target, distinct) else None
    if distinct <= FEW_CLASSES:
        return None
    if distinct > _TEXT_SHARE * rows and dtype_kind(target.dtype) == TEXT:
        words = float(target.drop_duplicates().astype(str).str.slice(0, 1_000).str.count(r"\S+").mean())
        if words >= _WORDS_OF_TEXT:
            return (
                f"{target.name!r} is free text: {distinct:,} distinct values in {rows:,} rows, of {words:.0f} words on average"
            )
    if distinct > _ID_SHARE * rows:
        return f"{target.name!r} looks like an identifier: {distinct:,} distinct values in {rows:,} rows"
    return None


def _numbers_rows(target: pd.Series[Any], distinct: int) -> bool:
    """Whether the numbers are consecutive whole numbers without repetition."""
    whole = bool((target == target.round()).all())
    return whole and distinct == len(target) and float(target.max()) - float(target.min()) == distinct - 1
