"""What the columns of a table hold: numbers, categories, dates, text, or nothing of use."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from .conversions import dates, is_plain, looks_like_date, number_matrix, numbers, words_of

NUMBER, CATEGORY, MANY, DATE, TEXT, NOTHING = "number", "category", "many categories", "date", "text", "nothing"
"""The kinds of columns. Many categories are too many for a column each; of no use is a column that is always the same, or
names its rows."""

FEW = 20
"""Categories with a column each."""

_ROWS = 100_000  # that tell what a column holds
_VALUES = 2_000  # distinct ones that are looked at closely
_SURE = 0.95  # share of the values that must be numbers, or dates, for the column to be so
_LONG = 200  # characters of a value that are looked at
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
    if any(pd.api.types.is_complex_dtype(kind) for kind in set(table.dtypes)):
        raise ValueError("Complex data not supported")
    return table


def kinds_of(table: pd.DataFrame) -> list[str]:
    """What each column of a table holds, by some of its rows where there are very many."""
    some = table if len(table) <= _ROWS else table.sample(_ROWS, random_state=0)
    plain = np.array([is_plain(dtype) for dtype in some.dtypes])
    kinds = np.full(some.shape[1], NOTHING, dtype=object)
    if plain.any():
        read = number_matrix(some.loc[:, plain])
        with np.errstate(invalid="ignore"):
            varies = np.fmin.reduce(read, axis=0) < np.fmax.reduce(read, axis=0)
        kinds[np.flatnonzero(plain)[varies]] = NUMBER
    for place in np.flatnonzero(~plain):
        kinds[place] = kind_of_column(some.iloc[:, int(place)])
    return [str(kind) for kind in kinds]


def check_useful(kinds: Sequence[str]) -> None:
    """Refuse columns of which none is of use."""
    if all(kind == NOTHING for kind in kinds):
        raise ValueError(f"none of the {len(kinds)} columns tells rows apart: they are empty, constant or row names")


def kind_of_column(values: pd.Series) -> str:
    """What a column holds. Categories of pandas stay categories, whatever they are called.

    >>> import pandas as pd
    >>> [kind_of_column(pd.Series(v)) for v in ([1, 2], ["a", "b", "a"], ["2024-01-05", "2024-02-01"], [None, None])]
    ['number', 'category', 'date', 'nothing']
    """
    types, known = pd.api.types, values.dropna()
    if isinstance(values.dtype, pd.CategoricalDtype):
        return _by_count(words_of(known))
    if types.is_datetime64_any_dtype(values.dtype) or types.is_timedelta64_dtype(values.dtype):
        return DATE if known.nunique() > 1 else NOTHING
    if types.is_numeric_dtype(values.dtype):
        read = numbers(known)
        read = read[~np.isnan(read)]
        return NUMBER if len(read) and read.min() < read.max() else NOTHING
    return _kind_of_words(words_of(known))


def _kind_of_words(words: Any) -> str:
    distinct = pd.unique(pd.Series(words, dtype=object))
    if len(distinct) < 2:
        return NOTHING
    chosen = np.random.default_rng(0).permutation(len(distinct))[:_VALUES]
    some = pd.Series([distinct[place][:_LONG] for place in np.sort(chosen)], dtype=object)
    read = numbers(some)
    if np.isfinite(read).mean() >= _SURE:
        return NUMBER if len(np.unique(read[np.isfinite(read)])) > 1 else NOTHING
    if some.map(looks_like_date).mean() >= _SURE and dates(some).notna().mean() >= _SURE:
        return DATE
    if len(distinct) > max(FEW, 0.5 * len(words)):
        if some.str.count(r"\S+").mean() >= _WORDS:
            return TEXT
        return NOTHING if len(distinct) == len(words) else MANY
    return _by_count(words)


def _by_count(words: Any) -> str:
    """Categories, by how many there are."""
    distinct = len(pd.unique(pd.Series(words, dtype=object)))
    return NOTHING if distinct < 2 else CATEGORY if distinct <= FEW else MANY
