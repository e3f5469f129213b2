"""The names of a table's columns: unique, never empty; and finding a column by name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING

from .. import checks
from ..sklearn.automl.wording import listed
from .errors import TargetError

if TYPE_CHECKING:
    import pandas as pd

Notify = Callable[[str], object]
"""Receives each note for the user, a line of text."""


def unique_names(header: Sequence[str], notify: Notify) -> list[str]:
    """Names as pandas makes them unique: `a` and `a.1` if a name occurs twice, `Unnamed: 3` for an empty name."""
    names: dict[str, None] = {}  # ordered
    given_names, numbers = set(header), Counter[str]()
    renamed, empty = [], []
    for place, given in enumerate(header):
        name = given if given.strip() else f"Unnamed: {place}"
        if not given.strip():
            empty.append(name)
        base = name
        while name in names or (name != base and name in given_names):
            numbers[base] += 1
            name = f"{base}.{numbers[base]}"
        if name != base:
            renamed.append(f"{base!r} is now {name!r}")
        names[name] = None
    if renamed:
        notify(f"Duplicate column names: the second {listed(renamed, quoted=False)}.")
    if empty:
        notify(f"Columns without a name are called {listed(empty)}.")
    if header and all(_is_number(name) for name in header):
        notify(f"The first line is used as column names, although all of them are numbers: {listed(header)}.")
    return list(names)


def with_text_names(frame: pd.DataFrame, notify: Notify) -> pd.DataFrame:
    """The table with the names that it would have in a CSV file: unique text.

    >>> import pandas as pd
    >>> list(with_text_names(pd.DataFrame([[1, 2, 3]], columns=[0, "a", "a"]), print))
    Duplicate column names: the second 'a' is now 'a.1'.
    ['0', 'a', 'a.1']
    """
    names = ["" if name is None or name != name else str(name) for name in frame.columns]  # NaN is not equal to itself
    if len(set(names)) < len(names) or not all(name.strip() for name in names):
        names = unique_names(names, notify)
    return frame if names == list(frame.columns) else frame.set_axis(names, axis=1)


def without_row_numbers(frame: pd.DataFrame, notify: Notify) -> pd.DataFrame:
    """The table without a column that only numbers the rows, such as the index that pandas and R write to files."""
    for name in ("Unnamed: 0", "__index_level_0__"):
        if name not in frame.columns or frame[name].dtype.kind not in "iu" or not (frame[name].diff().iloc[1:] > 0).all():
            continue
        notify(f"Dropped the column {name!r}, which only numbers the rows.")
        frame = frame.drop(columns=name)
    return frame


def find_column(name: str, columns: Collection[str], role: str = "target") -> str:
    """The column with this name; an error that names its role and suggests similar names if there is none."""
    if name in columns:
        return name
    close = checks.closest(name, columns)
    hint = f"Did you mean {' or '.join(map(repr, close))}?" if close else f"Columns: {listed(columns)}."
    raise TargetError(f"The {role} column {name!r} does not exist. {hint}", name)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
