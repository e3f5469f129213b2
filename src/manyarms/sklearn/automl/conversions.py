"""Convert columns to numbers, times, categories and text. Values that cannot be converted become missing; none is an error."""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .number_formats import NumberFormat, number_format, written_numbers

MISSING = "(missing)"
"""The category of a missing value."""

HUGE = 1e19
"""Larger numbers are clipped, so that their squares stay finite in single precision. Times in nanoseconds are smaller."""

_LONGEST_WORD, _LONGEST_TEXT = 1_000, 10_000  # characters that are used
_YEAR = re.compile(r"(?<!\d)[12]\d{3}(?!\d)")
_NUMBER = re.compile(r"\d+")
_MONTH = re.compile(r"\b(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\b", re.IGNORECASE)
_SHORT_DATE = re.compile(r"\s*\d{1,2}([/.-])\d{1,2}\1\d{2}(?!\d)")
_DAY_AND_MONTH = re.compile(r"\s*(\d{1,2})([/.-])(\d{1,2})\2(?:\d{4}|\d{2})(?!\d)")
_YEAR_FIRST = re.compile(r"\s*\d{4}[/.-]")
_COMPACT_DATE = re.compile(r"\s*[12]\d{3}[01]\d[0-3]\dT\d{4}")


def numbers(values: pd.Series, format: NumberFormat | None = None) -> NDArray[np.float64]:
    """The values as finite numbers, including text such as "1,747" or "$82.40"; NaN for anything else and for infinity.

    Args:
        values: A column.
        format: How numbers are written in text; None to decide by these values.
    """
    if isinstance(values.dtype, pd.CategoricalDtype):
        values = values.astype(object)
    try:
        result = np.array(pd.to_numeric(values, errors="coerce").to_numpy(dtype=float, na_value=np.nan))
    except (TypeError, ValueError, OverflowError):  # lists, or integers too large for a float
        result = np.array([_number(value) for value in values], dtype=float)
    rest = np.isnan(result) & values.notna().to_numpy()
    if not pd.api.types.is_numeric_dtype(values.dtype) and (rest.any() or format is not None):
        format = format or column_format(values)
        if format.decimal == ",":
            rest = values.map(lambda value: isinstance(value, str)).to_numpy(dtype=bool)  # also 815.498, which is 815,498
        places, distinct = factorized(values[rest])
        result[rest] = written_numbers(map(_text, distinct), format)[places]
    return np.where(np.isfinite(result), np.clip(result, -HUGE, HUGE), np.nan)


def column_format(values: pd.Series) -> NumberFormat:
    """How numbers are written in a column of text."""
    if pd.api.types.is_numeric_dtype(values.dtype) or pd.api.types.is_datetime64_any_dtype(values.dtype):
        return NumberFormat()
    return number_format(value for value in factorized(values)[1] if isinstance(value, str))


def column_formats(table: pd.DataFrame, places: Sequence[int]) -> dict[int, NumberFormat]:
    """How numbers are written in those of these columns that are text, by position."""
    return {place: column_format(table.iloc[:, place]) for place in places if not is_plain(table.dtypes.iloc[place])}


def number_matrix(table: pd.DataFrame, formats: Sequence[NumberFormat] | None = None) -> NDArray[np.float64]:
    """All columns as finite numbers, as in `numbers`; NumPy columns all at once, because a wide table has thousands."""
    if not all(is_plain(dtype) for dtype in set(table.dtypes)):
        known: Sequence[NumberFormat | None] = formats or [None] * table.shape[1]
        return np.column_stack([numbers(table[column], format) for column, format in zip(table, known, strict=True)])
    result = table.to_numpy(dtype=float)
    return np.where(np.isfinite(result), np.clip(result, -HUGE, HUGE), np.nan)


def is_plain(dtype: Any) -> bool:
    """Whether this is a numeric dtype of NumPy."""
    return isinstance(dtype, np.dtype) and dtype.kind in "iufb"


def _number(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        return np.nan
    except OverflowError:
        return HUGE if value > 0 else -HUGE


def looks_like_date(text: str) -> bool:
    """Whether a text is a date with a year, rather than a month, a range or a code.

    >>> [looks_like_date(text) for text in ("2024-01-05", "3 May 2021", "5/3/21", "May 2021")]
    [True, True, True, True]
    >>> [looks_like_date(text) for text in ("Feb", "2-10", "12:30", "1.2.3", "1999")]
    [False, False, False, False, False]
    """
    if _SHORT_DATE.match(text) or _COMPACT_DATE.match(text):
        return True
    return _YEAR.search(text) is not None and (len(_NUMBER.findall(text)) > 1 or _MONTH.search(text) is not None)


def is_day_first(values: pd.Series) -> bool:
    """Whether dates as text have the day before the month. Without a day above 12 to tell, the month is first.

    >>> is_day_first(pd.Series(["03/02/2024", "25/02/2024"])), is_day_first(pd.Series(["03/02/2024", "04/30/2024"]))
    (True, False)
    """
    if pd.api.types.is_datetime64_any_dtype(values.dtype) or pd.api.types.is_timedelta64_dtype(values.dtype):
        return False
    found = [match for value in factorized(values)[1] if (match := _DAY_AND_MONTH.match(_text(value))) is not None]
    return sum(int(match[1]) > 12 for match in found) > sum(int(match[3]) > 12 for match in found)


def dates(values: pd.Series, day_first: bool | None = None) -> pd.Series:
    """The values as times in UTC, rounded to microseconds and without a time zone; missing if they are not dates.

    A duration becomes the time that long after the start of 1970.

    Args:
        values: Times, durations or text.
        day_first: Whether text has the day before the month; None to decide by these values.
    """
    if pd.api.types.is_timedelta64_dtype(values.dtype):
        return pd.Series(np.datetime64(0, "us") + values.to_numpy("timedelta64[us]"), index=values.index)
    if pd.api.types.is_datetime64_any_dtype(values.dtype):
        return _without_zone(values)
    places, distinct = factorized(values)
    day_first = is_day_first(values) if day_first is None else day_first
    times = _without_zone(_parsed(pd.Series([_text(value) for value in distinct], dtype=object), day_first))
    known = np.append(times.to_numpy(), np.datetime64("NaT"))  # the code of a missing value is -1
    return pd.Series(known[places], index=values.index)


def _parsed(texts: pd.Series, day_first: bool) -> pd.Series:
    """Parse texts as times: first all in the same format, which is fast; then the others one by one."""
    year_first = texts.str.match(_YEAR_FIRST)
    if day_first and year_first.any():  # 2024-03-01 is always in March, but pandas would read it as 3 January
        both: pd.Series[Any] = pd.concat([_parsed(texts[year_first], False), _parsed(texts[~year_first], True)])
        return both.sort_index()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about ambiguous days and months
        options: dict[str, Any] = {"errors": "coerce", "utc": True, "dayfirst": day_first}
        times = pd.to_datetime(texts, **options).astype("datetime64[us, UTC]")
        rest = times.isna() & texts.str.contains(r"\d", regex=True)
        if rest.any():
            times[rest] = pd.to_datetime(texts[rest], format="mixed", **options).astype("datetime64[us, UTC]")
    return times


def _without_zone(times: pd.Series) -> pd.Series:
    zone = getattr(getattr(times.dtype, "pyarrow_dtype", times.dtype), "tz", None)  # an Arrow date has none
    naive = times if zone is None else times.dt.tz_convert("UTC").dt.tz_localize(None)
    return naive.astype("datetime64[us]")


def date_parts(values: pd.Series, day_first: bool | None = None) -> NDArray[np.float64]:
    """The time in days, and its year, month, day, weekday and hour; NaN if missing. For the arguments see `dates`."""
    times = dates(values, day_first)
    missing = times.isna().to_numpy()
    days = np.where(missing, np.nan, times.to_numpy("datetime64[s]").astype(np.int64) / 86_400)
    parts = [times.dt.year, times.dt.month, times.dt.day, times.dt.day_of_week, times.dt.hour]
    return np.column_stack([days, *(part.to_numpy(dtype=float, na_value=np.nan) for part in parts)])


def words_of(values: pd.Series) -> NDArray[Any]:
    """Categories as text: 1, 1.0 and "1" are the same, and missing is a category."""
    places, distinct = factorized(values)
    return np.array([*map(_word, distinct), MISSING], dtype=object)[places]  # the code of a missing value is -1


def factorized(values: pd.Series) -> tuple[NDArray[np.int64], Any]:
    """The code of each value and the distinct values. Values that cannot be hashed are converted to text."""
    try:
        return pd.factorize(values)
    except (TypeError, NotImplementedError):  # for example, lists
        return pd.factorize(
            pd.Series([None if gone else _text(value) for value, gone in zip(values, values.isna(), strict=True)])
        )


def texts_of(values: pd.Series) -> NDArray[Any]:
    """Values as text, truncated if long; empty if missing."""
    known = zip(values, values.isna(), strict=True)
    return np.array(["" if missing else _text(value)[:_LONGEST_TEXT] for value, missing in known], dtype=object)


def _word(value: Any) -> str:
    text = str(int(value)) if isinstance(value, float) and value.is_integer() else _text(value)
    return text[:_LONGEST_WORD]


def _text(value: Any) -> str:
    try:
        return str(value)
    except Exception:  # an object whose `__str__` fails
        return f"<{type(value).__name__}>"
