"""What the columns of a table hold: numbers, categories, dates, text, or nothing of use."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd

NUMBER, CATEGORY, MANY, DATE, TEXT, NOTHING = "number", "category", "many categories", "date", "text", "nothing"
"""The kinds of columns. Many categories are too many for a column each; of no use is a column that is always the same, or
names its rows."""

_LOOKED_AT = 2_000  # values that tell what a column holds
_SURE = 0.95  # of the values that must be numbers, or dates, for the column to be so
_FEW = 20  # categories with a column each
_HUGE = 1e15  # numbers beyond are taken for it: their squares must stay finite
_WORDS = 3.0  # in a value of a column of text, on average


def as_table(X: Any) -> pd.DataFrame:
    """The data as a table whose columns are numbered: names may be anything, and come twice."""
    if hasattr(X, "toarray"):  # sparse
        X = X.toarray()
    if not isinstance(X, pd.DataFrame):
        X = np.asarray(X)
        if X.ndim != 2:
            raise ValueError(f"X must be a table, got an array of {X.ndim} dimensions. Reshape your data, if it is one column")
    if not X.shape[1]:
        raise ValueError(f"0 feature(s) (shape={X.shape}) while a minimum of 1 is required.")
    if not len(X):
        raise ValueError(f"0 sample(s) (shape={X.shape}) while a minimum of 1 is required.")
    table = pd.DataFrame(X).set_axis(range(X.shape[1]), axis=1)
    if any(pd.api.types.is_complex_dtype(kind) for kind in table.dtypes):
        raise ValueError("Complex data not supported")
    return table


def kind_of_column(values: pd.Series) -> str:
    """What a column holds.

    >>> import pandas as pd
    >>> [kind_of_column(pd.Series(v)) for v in ([1, 2], ["a", "b", "a"], ["2024-01-05", "2024-02-01"], [None, None])]
    ['number', 'category', 'date', 'nothing']
    """
    if isinstance(values.dtype, pd.CategoricalDtype):
        values = values.astype(object)
    known = values.dropna()
    if not len(known) or (known.nunique() if _hashable(known) else 2) < 2:
        return NOTHING
    if pd.api.types.is_datetime64_any_dtype(values.dtype) or pd.api.types.is_timedelta64_dtype(values.dtype):
        return DATE
    if pd.api.types.is_numeric_dtype(values.dtype):
        read = numbers(known)
        return NUMBER if len(np.unique(read[~np.isnan(read)])) > 1 else NOTHING
    return _kind_of_words(known)


def _kind_of_words(known: pd.Series) -> str:
    some = known if len(known) <= _LOOKED_AT else known.sample(_LOOKED_AT, random_state=0)
    if _hashable(some):
        some = some.drop_duplicates()
    if np.isfinite(numbers(some)).mean() >= _SURE:
        return NUMBER
    words = some.astype(str)
    if dates(words).notna().mean() >= _SURE:
        return DATE
    distinct = known.astype(str).nunique()
    if distinct > _FEW and distinct > 0.5 * len(known):
        if words.str.count(r"\S+").mean() >= _WORDS:
            return TEXT
        return NOTHING if distinct == len(known) else MANY
    return CATEGORY if distinct <= _FEW else MANY


def numbers(values: pd.Series) -> np.ndarray[Any, np.dtype[np.float64]]:
    """The values as finite numbers; NaN for all others, infinite ones too."""
    if isinstance(values.dtype, pd.CategoricalDtype):
        values = values.astype(object)
    result = pd.to_numeric(values, errors="coerce").to_numpy(dtype=float, na_value=np.nan)
    return np.where(np.isfinite(result), np.clip(result, -_HUGE, _HUGE), np.nan)


def dates(values: pd.Series) -> pd.Series:
    """The values as times, where they are some."""
    if pd.api.types.is_timedelta64_dtype(values.dtype):
        return pd.Timestamp(0, tz="UTC") + values
    each: dict[str, Any] = {} if pd.api.types.is_datetime64_any_dtype(values.dtype) else {"format": "mixed"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of days and months that could be meant the other way round
        return pd.to_datetime(values, errors="coerce", utc=True, **each)


def _hashable(values: pd.Series) -> bool:
    try:
        hash(values.iloc[0])
        values.nunique()
    except TypeError:
        return False
    return True
