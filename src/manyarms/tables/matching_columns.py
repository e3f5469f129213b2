"""Gives a new table the columns that a model was trained on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from .. import checks
from ..sklearn.automl.column_kinds import FLAG, NUMBER, TEXT, dtype_kind
from ..sklearn.automl.conversions import dates, numbers, words_of
from ..sklearn.automl.wording import listed
from .names import Notify

_FLAGS = {text: float(flag) for flag in (False, True) for text in (str(flag), str(flag).lower(), str(flag).upper())}


def conformed(frame: pd.DataFrame, kinds: Mapping[str, str], notify: Notify) -> pd.DataFrame:
    """The columns that a model was trained on, in the same order and with the same types. Other columns are dropped.

    Args:
        frame: A new table.
        kinds: How each column of the model was stored, by name.
        notify: Receives a note for each irregularity.
    """
    there = set(frame.columns)
    absent = [name for name in kinds if name not in there]
    if absent:
        close = checks.closest(absent[0], map(str, frame.columns), 1) if len(absent) == 1 else []
        hint = f" Did you mean {close[0]!r}?" if close else ""
        what = "columns" if absent[1:] else "a column"
        raise ValueError(f"The table is missing {what} that the model needs: {listed(absent)}.{hint}")
    extra = [name for name in frame.columns if name not in kinds]
    if extra:
        notify(f"Ignored columns that the model does not use: {listed(extra)}.")
    frame = frame[list(kinds)]
    same = [
        dtype_kind(dtype) in ((FLAG, NUMBER) if kind == FLAG else (kind,))
        for kind, dtype in zip(kinds.values(), frame.dtypes, strict=True)
    ]
    if all(same):
        return frame.copy()
    made = {
        name: frame[name] if known else _as_kind(frame[name], kinds[name], notify)
        for name, known in zip(kinds, same, strict=True)
    }
    return pd.DataFrame(made, index=frame.index)


def _as_kind(column: pd.Series[Any], kind: str, notify: Notify) -> pd.Series[Any]:
    """The column, stored as text, numbers, flags or times."""
    if kind == TEXT:
        return column.astype(object).where(column.isna(), pd.Series(words_of(column), index=column.index))
    if kind in (NUMBER, FLAG):
        shown = column if kind == NUMBER else pd.Series([_FLAGS.get(word, word) for word in words_of(column)], dtype=object)
        made: pd.Series[Any] = pd.Series(numbers(shown), index=column.index, name=column.name)
    else:
        made = dates(column)
    note_missing(column, made.isna(), kind, notify)
    return made


def durations(column: pd.Series[Any], notify: Notify) -> pd.Series[Any]:
    """Text such as "2 days 03:00:00" as durations. A number without a unit is treated as missing."""
    if pd.api.types.is_timedelta64_dtype(column.dtype):
        return column
    words = pd.Series(words_of(column), index=column.index, dtype=object).where(column.notna())
    made: pd.Series[Any] = pd.to_timedelta(words.mask(np.isfinite(numbers(words))), errors="coerce")
    note_missing(column, made.isna(), "duration", notify)
    return made


def note_missing(column: pd.Series[Any], missing: Any, kind: str, notify: Notify) -> None:
    """A note on values that cannot be converted to the kind of their column."""
    odd = pd.unique(words_of(column[column.notna() & missing]))
    if len(odd):
        notify(f"The column {column.name!r} must hold {kind}s. These values are treated as missing: {listed(odd)}.")
