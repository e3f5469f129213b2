"""What is to be learned: the target's rows that count, whether it is a class or a number, and the rows to judge a model on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .columns import FLAG, NUMBER, TEXT, TIME, column_kind
from .names import Say, counted, listed

if TYPE_CHECKING:
    import pandas as pd

CLASSIFICATION, REGRESSION = "classification", "regression"

_FEW = 20  # the most distinct whole numbers that are taken for classes
_NEARLY_ALL = 0.9  # of a target's values that are numbers, where those that are not are taken as missing
_MANY = 50  # rows whose numbers cannot be consecutive by chance
_IDS, _FREE_TEXT = 0.5, 0.2  # distinct values, as a share of the rows, beyond which they are names of rows, or free text
_WORDS = 3.0  # in a value of free text, on average
_A_CLASS = 10  # the rows a class has on average, at least, where whole numbers are taken for classes


def task_of(target: pd.Series[Any]) -> tuple[str, str]:
    """Whether the target is a class or a number, and why.

    >>> import pandas as pd
    >>> task_of(pd.Series(["cat", "dog", "cat"]))
    ('classification', 'it is text')
    >>> task_of(pd.Series([1.5, 2.5, 4.0]))
    ('regression', 'it is a number')
    """
    kind, distinct = column_kind(target), target.nunique()
    if kind == TEXT:
        return CLASSIFICATION, "it is text"
    if kind == FLAG or distinct <= 2:
        return CLASSIFICATION, f"it has {counted(distinct, 'value')}"
    whole = bool((target == target.round()).all())
    if whole and are_few(distinct, len(target)):
        return CLASSIFICATION, f"it has {distinct} distinct whole numbers (--task regression otherwise)"
    return REGRESSION, "it is a number"


def are_few(distinct: int, rows: int) -> bool:
    """Whether this many distinct numbers can be classes: at most two, or at most 20 with enough rows each.

    >>> are_few(2, 3), are_few(20, 200), are_few(21, 1_000), are_few(20, 199)
    (True, True, False, False)
    """
    return distinct <= 2 or distinct <= min(_FEW, rows // _A_CLASS)


def with_target(frame: pd.DataFrame, target: str, say: Say) -> tuple[pd.DataFrame, pd.Series[Any]]:
    """The other columns, and the target, of the rows that have one."""
    values = _numbers(frame[target], say)
    if column_kind(values) == TIME:
        raise ValueError(f"--target must be a class or a number, got {target!r}, which is a date: make a number of it first")
    known = values.notna()
    if column_kind(values) == NUMBER:
        known &= np.isfinite(values.astype(float).fillna(0.0))
    if not known.any():
        raise ValueError(f"the target {target!r} is missing in every row")
    if not known.all():
        say(f"{counted(int((~known).sum()), 'row')} without a target left out")
        frame, values = frame[known], values[known]
    rest = frame.drop(columns=target).reset_index(drop=True)
    if not len(rest.columns):
        raise ValueError(f"the table has no column beside the target {target!r}: there is nothing to predict it from")
    return rest, _plain(values).reset_index(drop=True)


def _numbers(values: pd.Series[Any], say: Say) -> pd.Series[Any]:
    """Text of which nearly all is numbers as numbers, and the rest as missing; but not classes such as 1, 2 and 3a."""
    import pandas as pd

    there = values.dropna()
    if column_kind(values) != TEXT or isinstance(values.dtype, pd.CategoricalDtype) or not len(there):
        return values
    numbers = pd.to_numeric(there, errors="coerce")
    if numbers.notna().mean() < _NEARLY_ALL or numbers.nunique() <= _FEW:
        return values
    odd = there[numbers.isna()].unique()
    if len(odd):
        say(f"the target {values.name!r} holds numbers: taken as missing are {listed(odd)}")
    return pd.to_numeric(values, errors="coerce")


def _plain(values: pd.Series[Any]) -> pd.Series[Any]:
    """Whole numbers as such, which a missing value made decimals of; text without a type of its own."""
    kind = column_kind(values)
    if kind == NUMBER:
        whole = (values == values.round()).all() and (values.abs() < 2**53).all()
        return values.astype("int64" if whole else "float64")
    return values.astype(object if kind == TEXT else bool)


def check_target(target: pd.Series[Any], task: str) -> None:
    """Refuse a target that nothing can be learned of."""
    name = target.name
    if len(target) < 2:
        raise ValueError(f"a table needs at least 2 rows with a target to learn from, got {len(target)}")
    if target.nunique() == 1:
        raise ValueError(f"--target must vary, got {name!r}, which is {_shown(target.iloc[0])} in all {len(target):,} rows")
    if task == REGRESSION and column_kind(target) == TEXT:
        example = listed(target.unique()[:3])
        raise ValueError(f"--task regression needs a target of numbers, got {name!r} with values such as {example}")
    if task == CLASSIFICATION and target.nunique() == len(target):
        raise ValueError(f"--target must have classes of several rows, got {name!r}, which is different in each of its rows")


def why_not(target: pd.Series[Any], task: str) -> str | None:
    """Why a target looks like names of rows, or free text, rather than something to predict; None if it does not.

    >>> import pandas as pd
    >>> why_not(pd.Series(range(100), name="row"), "regression")
    "'row' numbers the rows"
    >>> why_not(pd.Series(["a", "b"] * 50, name="kind"), "classification") is None
    True
    """
    rows, distinct = len(target), target.nunique()
    if task == REGRESSION:
        return f"{target.name!r} numbers the rows" if rows >= _MANY and _counts_rows(target, distinct) else None
    if distinct <= _FEW:
        return None
    if distinct > _FREE_TEXT * rows and column_kind(target) == TEXT:
        words = float(target.drop_duplicates().astype(str).str.slice(0, 1_000).str.count(r"\S+").mean())
        if words >= _WORDS:
            return (
                f"{target.name!r} is free text: {distinct:,} distinct values in {rows:,} rows, of {words:.0f} words on average"
            )
    if distinct > _IDS * rows:
        return f"{target.name!r} looks like an identifier: {distinct:,} distinct values in {rows:,} rows"
    return None


def _counts_rows(target: pd.Series[Any], distinct: int) -> bool:
    """Whether the numbers are consecutive whole ones, each once."""
    whole = bool((target == target.round()).all())
    return whole and distinct == len(target) and float(target.max()) - float(target.min()) == distinct - 1


def _shown(value: Any) -> str:
    return repr(value.item() if hasattr(value, "item") else value)


def held_out(target: pd.Series[Any], task: str, share: float, most: int, seed: int) -> np.ndarray[Any, Any]:
    """Which rows to keep aside, drawn at random: of each class the same share, and never all rows of one.

    Args:
        target: of all rows.
        task: "classification" or "regression".
        share: of the rows; 0 for none.
        most: rows to keep aside.
        seed: same seed, same rows.
    """
    rng = np.random.default_rng(seed)
    share = min(share, most / len(target))
    order = rng.permutation(len(target))
    aside = np.zeros(len(target), bool)
    if task == REGRESSION:
        aside[order[: round(share * len(target))]] = True
        return aside
    classes = target.factorize()[0][order]
    place = np.empty(len(order))  # of each row among those of its class
    by_class = np.argsort(classes, kind="stable")
    starts = np.searchsorted(classes[by_class], classes[by_class])
    place[by_class] = np.arange(len(order)) - starts
    # of the rows of a class, those where the share times their number passes a whole number and a half
    aside[order[np.floor((place + 1) * share + 0.5) > np.floor(place * share + 0.5)]] = True
    return aside
