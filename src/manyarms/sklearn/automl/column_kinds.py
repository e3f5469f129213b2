"""The kinds of columns: how a column is stored, and what it holds for a model. Both are decided here and nowhere else."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from .conversions import dates, is_plain, looks_like_date, number_matrix, numbers, words_of
from .number_formats import are_consistent

NUMBER, FLAG, TIME, TEXT = "number", "flag", "time", "text"
"""How a column is stored, by its dtype. The first and the last are also what a column may hold."""

CATEGORY, MANY, DATE, NOTHING = "category", "many categories", "date", "nothing"
"""What else a column may hold. Many categories are too many to be one-hot encoded. A column of nothing is constant, empty, or
only identifies the rows."""

FEW = 20
"""The largest number of categories that are one-hot encoded."""

_TOPICS, _FEWEST_TOPICS = 100, 20  # of all text columns together, and of each at least
_ROWS = 100_000  # inspected, at most
_VALUES = 2_000  # distinct values that are parsed, at most
_SURE = 0.95  # share of the values that must be numbers, or dates
_LONG = 200  # characters of a value that are inspected
_WORDS = 3.0  # words per value of a text column, on average


def dtype_kind(dtype: Any) -> str:
    """How a column of this type is stored: number, flag, time or text.

    >>> import pandas as pd
    >>> [dtype_kind(pd.Series(v).dtype) for v in ([1.5], [True], [pd.Timestamp(0)], ["a"])]
    ['number', 'flag', 'time', 'text']
    """
    types = pd.api.types
    if types.is_bool_dtype(dtype):
        return FLAG
    if types.is_numeric_dtype(dtype):
        return NUMBER
    return TIME if types.is_datetime64_any_dtype(dtype) else TEXT


def topics_per_text(texts: int) -> int:
    """The number of topics of each text column, if there are this many.

    With 100 topics instead of 20, the accuracy on texts of a few words is up to 0.1 higher, and training takes longer.

    >>> topics_per_text(1), topics_per_text(2), topics_per_text(9)
    (100, 50, 20)
    """
    return max(_FEWEST_TOPICS, _TOPICS // max(1, texts))


def as_table(X: Any) -> pd.DataFrame:
    """The data as a table with numbered columns, because names may be of any type and occur twice."""
    if hasattr(X, "toarray"):  # sparse
        X = X.toarray()
    if not isinstance(X, pd.DataFrame):
        X = np.asarray(X)
        if X.ndim != 2:
            raise ValueError(f"X must have two dimensions, got {X.ndim}. Reshape your data if it is a single column.")
    if not X.shape[1]:
        raise ValueError(f"0 feature(s) (shape={X.shape}) while a minimum of 1 is required.")
    if not len(X):
        raise ValueError(f"0 sample(s) (shape={X.shape}) while a minimum of 1 is required.")
    table = pd.DataFrame(X).set_axis(range(X.shape[1]), axis=1)
    if any(pd.api.types.is_complex_dtype(kind) for kind in set(table.dtypes)):
        raise ValueError("Complex data not supported")
    return table


def kinds_of(table: pd.DataFrame) -> list[str]:
    """What each column of a table holds. Large tables are sampled."""
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
    """Raise an error if no column can be used."""
    if all(kind == NOTHING for kind in kinds):
        raise ValueError(
            f"None of the {len(kinds)} columns can be used to predict: each is empty, constant, or only identifies the rows."
        )


def kind_of_column(values: pd.Series) -> str:
    """What a column holds. A categorical dtype stays a category, even if its values look like numbers.

    >>> import pandas as pd
    >>> [kind_of_column(pd.Series(v)) for v in ([1, 2], ["a", "b", "a"], ["2024-01-05", "2024-02-01"], [None, None])]
    ['number', 'category', 'date', 'nothing']
    >>> kind_of_column(pd.Series(["$1,747", "$82.40"]))
    'number'
    """
    stored, known = dtype_kind(values.dtype), values.dropna()
    if isinstance(values.dtype, pd.CategoricalDtype):
        return _by_count(words_of(known))
    if stored == TIME or pd.api.types.is_timedelta64_dtype(values.dtype):
        return DATE if known.nunique() > 1 else NOTHING
    if stored in (NUMBER, FLAG):
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
    if np.isfinite(read).mean() >= _SURE and are_consistent(some):
        return NUMBER if len(np.unique(read[np.isfinite(read)])) > 1 else NOTHING
    if some.map(looks_like_date).mean() >= _SURE and dates(some).notna().mean() >= _SURE:
        return DATE
    if len(distinct) > max(FEW, 0.5 * len(words)):
        if some.str.count(r"\S+").mean() >= _WORDS:
            return TEXT
        return NOTHING if len(distinct) == len(words) else MANY
    return _by_count(words)


def are_written_numbers(values: pd.Series) -> bool:
    """Whether a column of numbers is text with currency signs, percent signs or separators of thousands."""
    if dtype_kind(values.dtype) != TEXT or isinstance(values.dtype, pd.CategoricalDtype):
        return False
    some = pd.unique(values.dropna().head(_VALUES))
    return bool(np.isnan(pd.to_numeric(pd.Series(some), errors="coerce").to_numpy(dtype=float, na_value=np.nan)).any())


def _by_count(words: Any) -> str:
    """The kind of a categorical column, by its number of categories."""
    distinct = len(pd.unique(pd.Series(words, dtype=object)))
    return NOTHING if distinct < 2 else CATEGORY if distinct <= FEW else MANY
