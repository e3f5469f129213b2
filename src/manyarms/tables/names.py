"""The names of a table's columns: each once, none empty; and the one a user may have meant."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

Say = Callable[[str], object]
"""Takes a line for the user."""

_SHOWN = 5


def unique_names(header: Sequence[str], say: Say) -> list[str]:
    """The names as pandas makes them: `a` and `a.1` for two of one name, `Unnamed: 3` for an empty one."""
    names: dict[str, None] = {}  # in their order
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
        say(f"columns of the same name: the second {listed(renamed, quoted=False)}")
    if empty:
        say(f"columns without a name are called {listed(empty)}")
    if header and all(_is_number(name) for name in header):
        say(f"the first line is taken as names of columns, though all are numbers: {listed(header)}")
    return list(names)


def without_row_numbers(frame: pd.DataFrame, say: Say) -> pd.DataFrame:
    """Without a column that only numbers the rows: pandas and R write one, without a name."""
    for name in ("Unnamed: 0", "__index_level_0__"):
        if name not in frame.columns or frame[name].dtype.kind not in "iu" or not (frame[name].diff().iloc[1:] > 0).all():
            continue
        say(f"{name!r} only numbers the rows, and is left out")
        frame = frame.drop(columns=name)
    return frame


def find_column(name: str, columns: Collection[str], option: str = "--target") -> str:
    """The column of this name; an error that names the closest ones if there is none."""
    if name in columns:
        return name
    close = closest(name, columns)
    hint = f"did you mean {' or '.join(map(repr, close))}?" if close else f"there are {listed(columns)}"
    raise ValueError(f"{option} must name a column of the table, got {name!r}: {hint}")


def closest(name: str, known: Iterable[str], most: int = 3) -> list[str]:
    """The known names that look like it, whatever their case and the spaces around them."""
    plain: dict[str, str] = {}
    for other in known:
        plain.setdefault(other.strip().casefold(), other)
    return [plain[key] for key in difflib.get_close_matches(name.strip().casefold(), plain, most, cutoff=0.6)]


def listed(values: Iterable[object], quoted: bool = True) -> str:
    """The first few, and how many more there are."""
    shown = [repr(value) if quoted else str(value) for value in values]
    more = f" and {len(shown) - _SHOWN} more" if len(shown) > _SHOWN else ""
    return ", ".join(shown[:_SHOWN]) + more


def counted(number: int, noun: str) -> str:
    """A number with its noun, such as 1,000 rows."""
    plural = noun[:-1] + "ies" if noun.endswith("y") else noun + ("es" if noun.endswith("s") else "s")
    return f"{number:,} {noun if number == 1 else plural}"


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
