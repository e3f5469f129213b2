"""Columns of a table as numbers, times, words and text. No value raises an error: what cannot be converted is missing."""

from __future__ import annotations

import re
import warnings
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

MISSING = "(missing)"
"""The category of a missing value."""

_HUGE = 1e15  # numbers beyond are replaced by it: their squares must stay finite
_LONGEST_WORD, _LONGEST_TEXT = 1_000, 10_000  # characters of a category, and of a text, that are used
_YEAR = re.compile(r"(?<!\d)[12]\d{3}(?!\d)")
_NUMBER = re.compile(r"\d+")
_MONTH = re.compile(r"\b(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\b", re.IGNORECASE)
_SHORT_DATE = re.compile(r"\s*\d{1,2}([/.-])\d{1,2}\1\d{2}(?!\d)")
_COMPACT_DATE = re.compile(r"\s*[12]\d{3}[01]\d[0-3]\dT\d{4}")


def numbers(values: pd.Series) -> NDArray[np.float64]:
    """The values as finite numbers; NaN for all others, including infinite ones."""
    if isinstance(values.dtype, pd.CategoricalDtype):
        values = values.astype(object)
    try:
        result = pd.to_numeric(values, errors="coerce").to_numpy(dtype=float, na_value=np.nan)
    except (TypeError, ValueError, OverflowError):  # lists, or whole numbers beyond any float
        result = np.array([_number(value) for value in values], dtype=float)
    return np.where(np.isfinite(result), np.clip(result, -_HUGE, _HUGE), np.nan)


def number_matrix(table: pd.DataFrame) -> NDArray[np.float64]:
    """All columns as finite numbers, as `numbers` gives them; plain ones at once, since a wide table has thousands."""
    if not all(is_plain(dtype) for dtype in set(table.dtypes)):
        return np.column_stack([numbers(table[column]) for column in table])
    result = table.to_numpy(dtype=float)
    return np.where(np.isfinite(result), np.clip(result, -_HUGE, _HUGE), np.nan)


def is_plain(dtype: Any) -> bool:
    """Whether values of this type are numbers that NumPy knows."""
    return isinstance(dtype, np.dtype) and dtype.kind in "iufb"


def _number(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        return np.nan
    except OverflowError:
        return _HUGE if value > 0 else -_HUGE


def looks_like_date(text: str) -> bool:
    """Whether a text names a day or a month of a year, rather than a bare month, a range or a code.

    >>> [looks_like_date(text) for text in ("2024-01-05", "3 May 2021", "5/3/21", "May 2021")]
    [True, True, True, True]
    >>> [looks_like_date(text) for text in ("Feb", "2-10", "12:30", "1.2.3", "1999")]
    [False, False, False, False, False]
    """
    if _SHORT_DATE.match(text) or _COMPACT_DATE.match(text):
        return True
    return _YEAR.search(text) is not None and (len(_NUMBER.findall(text)) > 1 or _MONTH.search(text) is not None)


def dates(values: pd.Series) -> pd.Series:
    """The values as times in UTC, to the second, without a time zone; missing where they are none.

    A length of time becomes the time that long after 1970 began.
    """
    if pd.api.types.is_timedelta64_dtype(values.dtype):
        return pd.Series(np.datetime64(0, "s") + values.to_numpy("timedelta64[s]"), index=values.index)
    if pd.api.types.is_datetime64_any_dtype(values.dtype):
        return _to_the_second(values)
    places, distinct = _factorized(values)
    times = _to_the_second(_parsed(pd.Series([_text(value) for value in distinct], dtype=object)))
    known = np.append(times.to_numpy(), np.datetime64("NaT"))  # the place of a missing value is -1
    return pd.Series(known[places], index=values.index)


def _parsed(texts: pd.Series) -> pd.Series:
    """Texts as times: all in the format of the first, which is quick, and those that are not each by itself."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about days and months that could be the other way around
        times = pd.to_datetime(texts, errors="coerce", utc=True).astype("datetime64[us, UTC]")
        rest = times.isna() & texts.str.contains(r"\d", regex=True)
        if rest.any():
            times[rest] = pd.to_datetime(texts[rest], errors="coerce", utc=True, format="mixed").astype("datetime64[us, UTC]")
    return times


def _to_the_second(times: pd.Series) -> pd.Series:
    naive = times.dt.tz_convert("UTC").dt.tz_localize(None) if times.dt.tz is not None else times
    return naive.astype("datetime64[s]")


def date_parts(values: pd.Series) -> NDArray[np.float64]:
    """A time in days, and its year, month, day, weekday and hour; NaN where there is none."""
    times = dates(values)
    missing = times.isna().to_numpy()
    days = np.where(missing, np.nan, times.to_numpy("datetime64[s]").astype(np.int64) / 86_400)
    parts = [times.dt.year, times.dt.month, times.dt.day, times.dt.day_of_week, times.dt.hour]
    return np.column_stack([days, *(part.to_numpy(dtype=float, na_value=np.nan) for part in parts)])


def words_of(values: pd.Series) -> NDArray[Any]:
    """Categories as text: 1, 1.0 and "1" are the same, and missing is one of them."""
    places, distinct = _factorized(values)
    return np.array([*map(_word, distinct), MISSING], dtype=object)[places]  # the place of a missing value is -1


def _factorized(values: pd.Series) -> tuple[NDArray[np.int64], Any]:
    """The place of each value among the distinct ones, and these; values that cannot be compared are taken as text."""
    try:
        return pd.factorize(values)
    except TypeError:  # lists, say
        return pd.factorize(
            pd.Series([None if gone else _text(value) for value, gone in zip(values, values.isna(), strict=True)])
        )


def texts_of(values: pd.Series) -> NDArray[Any]:
    """Values as text, of which the beginning counts; empty where they are missing."""
    known = zip(values, values.isna(), strict=True)
    return np.array(["" if missing else _text(value)[:_LONGEST_TEXT] for value, missing in known], dtype=object)


def _word(value: Any) -> str:
    text = str(int(value)) if isinstance(value, float) and value.is_integer() else _text(value)
    return text[:_LONGEST_WORD]


def _text(value: Any) -> str:
    try:
        return str(value)
    except Exception:  # an object of a class whose text cannot be made
        return f"<{type(value).__name__}>"
