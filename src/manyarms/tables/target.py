"""The target of a table: the rows that have one, whether it can be learned, and the rows to hold out for testing."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split

from ..sklearn.automl.column_kinds import FLAG, NUMBER, TEXT, TIME, dtype_kind
from ..sklearn.automl.conversions import factorized, words_of
from ..sklearn.automl.conversions import numbers as as_numbers
from ..sklearn.automl.number_formats import NumberFormat, are_consistent, parse_number, unmarked
from ..sklearn.automl.task import CLASSIFICATION, FEW_CLASSES, REGRESSION
from ..sklearn.automl.wording import counted, listed, shown_number
from .errors import TargetError
from .names import Notify
from .splits import BY_GROUP, BY_TIME, RANDOM, Split, latest_rows, some_groups

_RANDOM = Split()
_NEARLY_ALL = 0.9  # share of numbers in a text column from which it is treated as numeric


def with_target(frame: pd.DataFrame, target: str, notify: Notify) -> tuple[pd.DataFrame, pd.Series[Any]]:
    """The other columns and the target, for the rows that have a target."""
    values = _numbers(frame[target], notify)
    kind = dtype_kind(values.dtype)
    if kind == TIME or isinstance(values.dtype, pd.PeriodDtype) or pd.api.types.is_timedelta64_dtype(values.dtype):
        what = "duration" if pd.api.types.is_timedelta64_dtype(values.dtype) else "date"
        raise TargetError(f"The target column {target!r} is a {what}. Convert it to a number or a class first.", target)
    known = values.notna()
    if kind == NUMBER:
        known &= np.isfinite(values.astype(float).fillna(0.0))
    if not known.any():
        raise TargetError(f"The target column {target!r} is missing in every row.", target)
    if not known.all():
        notify(f"Dropped {counted(int((~known).sum()), 'row')} without a target.")
        frame, values = frame[known], values[known]
    rest = frame.drop(columns=target).reset_index(drop=True)
    if not len(rest.columns):
        raise TargetError(
            f"The table has no columns besides the target {target!r}, so there is nothing to predict from.", target
        )
    values = _plain(values)
    if dtype_kind(values.dtype) == TEXT and (alike := _differing_by_case(values.unique())):
        notify(f"Target {target}: these classes differ only by case, and are kept apart: {listed(alike)}.")
    return rest, values.reset_index(drop=True)


def _differing_by_case(classes: Iterable[str]) -> list[str]:
    """The classes that are equal to another one if case is ignored.

    >>> _differing_by_case(["high", "low", "High"])
    ['high', 'High']
    """
    known: dict[str, list[str]] = {}
    for name in classes:
        known.setdefault(name.casefold(), []).append(name)
    return [name for names in known.values() if len(names) > 1 for name in names]


def _numbers(values: pd.Series[Any], notify: Notify) -> pd.Series[Any]:
    """A text column that is nearly all numbers, as numbers; but not classes such as 1, 2 and 3a."""
    known = values.dropna()
    if dtype_kind(values.dtype) != TEXT or isinstance(values.dtype, pd.CategoricalDtype) or not len(known):
        return values
    codes, distinct = factorized(values)  # because converting 500,000 texts takes a second
    texts = pd.Series(np.asarray(distinct), dtype=object)
    read = as_numbers(texts)
    numbers = pd.Series(np.append(read, np.nan)[codes], index=values.index, name=values.name)
    if numbers[values.notna()].notna().mean() < _NEARLY_ALL or numbers.nunique() <= FEW_CLASSES:
        return values.map(lambda value: unmarked(value) if isinstance(value, str) else value, na_action="ignore")
    if not are_consistent(map(str, distinct)):
        return values
    _note_thousands(str(values.name), texts, read, notify)
    odd = known[numbers[values.notna()].isna()].unique()
    if len(odd):
        notify(f"The target {values.name!r} is numeric. These values are treated as missing: {listed(odd)}.")
    return numbers


def _note_thousands(name: str, texts: pd.Series[Any], read: np.ndarray[Any, Any], notify: Notify) -> None:
    """A note on how a number with a point before three digits, such as 815.498, was read: it can mean two things."""
    for text, value in zip(map(str, texts), read, strict=True):
        other = parse_number(text, NumberFormat(","))
        if other is not None and "." in text and (point := parse_number(unmarked(text))) is not None and point.decimal == ".":
            notify(f"Target {name}: {unmarked(text)} was read as {shown_number(value)}.")
            return


def _plain(values: pd.Series[Any]) -> pd.Series[Any]:
    """Whole numbers as integers, even if missing values made them floats; anything but numbers and flags as text without the
    spaces around it."""
    if values.dtype == object:  # flags, if those that are missing made them objects
        values = values.infer_objects()
    kind = dtype_kind(values.dtype)
    if kind == NUMBER:
        whole = (values == values.round()).all() and (values.abs() < 2**53).all()
        return values.astype("int64" if whole else "float64")
    if kind == FLAG:
        return values.astype(bool)
    return pd.Series(words_of(values), index=values.index, name=values.name, dtype=object).str.strip()


def check_target(target: pd.Series[Any], task: str) -> None:
    """Raise an error if nothing can be learned about a target."""
    name, rows = str(target.name), len(target)
    if rows < 2:
        raise TargetError(f"At least 2 rows with a target are needed, got {rows}.", name)
    if target.nunique() == 1:
        raise TargetError(f"The target column {name!r} is constant: it is {_shown(target.iloc[0])} in all {rows:,} rows.", name)
    if task == REGRESSION and dtype_kind(target.dtype) == TEXT:
        examples = listed(target.unique()[:3])
        raise TargetError(f"A regression needs a numeric target, but the column {name!r} holds text, such as {examples}.", name)
    if task == CLASSIFICATION and target.nunique() == rows:
        problem = f"The target column {name!r} has a different value in every row, so there are no classes to learn."
        raise TargetError(problem, name)


def _shown(value: Any) -> str:
    return repr(value.item() if hasattr(value, "item") else value)


def held_out(
    target: pd.Series[Any], task: str, share: float, most: int, seed: int, split: Split = _RANDOM, keys: Any = None
) -> np.ndarray[Any, Any]:
    """Which rows to hold out: a random sample, stratified by class, that never holds all rows of a class.

    Args:
        target: The target of all rows.
        task: "classification" or "regression".
        share: Share of the rows to hold out; 0 for none.
        most: Largest number of rows to hold out.
        seed: Random seed. The same seed holds out the same rows.
        split: How to divide the rows. By time, the latest rows are held out; by group, whole groups.
        keys: The time or the group of each row, unless the split is random.
    """
    rows, chosen = np.arange(len(target)), np.zeros(len(target), bool)
    n = min(round(share * len(target)), most)
    if n < 1:
        return chosen
    if split.kind != RANDOM:
        chosen = latest_rows(keys, n) if split.kind == BY_TIME else some_groups(keys, n, seed)
        known = task == REGRESSION or target.isin(target[~chosen].unique()).to_numpy()
        if split.kind == BY_GROUP:  # a group with a class of its own is trained on as a whole
            known = ~np.isin(keys, keys[chosen & ~known])
        return chosen & known
    if task == REGRESSION:
        chosen[train_test_split(rows, test_size=n, random_state=seed)[1]] = True
        return chosen
    classes = target.factorize()[0]
    several = rows[np.bincount(classes)[classes] > 1]
    n = min(n, round(share * len(several)))
    enough = n >= len(np.unique(classes[several]))  # at least one row of each class, which stratification needs
    if n < 1:
        return chosen
    kept, tested = train_test_split(several, test_size=n, random_state=seed, stratify=classes[several] if enough else None)
    chosen[tested[np.isin(classes[tested], classes[kept])]] = True
    return chosen
