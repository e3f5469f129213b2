"""What kinds of columns a table has, and making a new table's columns the same."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .names import Say, closest, listed

if TYPE_CHECKING:
    import pandas as pd

NUMBER, FLAG, TIME, TEXT = "number", "flag", "time", "text"


def column_kind(column: pd.Series[Any]) -> str:
    """One word: number, flag, time, or text."""
    return dtype_kind(column.dtype)


def dtype_kind(dtype: Any) -> str:
    """The kind of a column of this type."""
    import pandas as pd

    types = pd.api.types
    if types.is_bool_dtype(dtype):
        return FLAG
    if types.is_numeric_dtype(dtype):
        return NUMBER
    return TIME if types.is_datetime64_any_dtype(dtype) else TEXT


def conformed(frame: pd.DataFrame, kinds: Mapping[str, str], say: Say) -> pd.DataFrame:
    """The columns that a model was trained on, in their order and of their kinds; others are left out.

    Args:
        frame: a new table.
        kinds: of the model's columns, by name.
        say: called with a line for each odd thing.
    """
    there = set(frame.columns)
    absent = [name for name in kinds if name not in there]
    if absent:
        close = closest(absent[0], map(str, frame.columns), 1) if len(absent) == 1 else []
        hint = f"; is it {close[0]!r}?" if close else ""
        raise ValueError(
            f"the table lacks {'columns' if absent[1:] else 'the column'} that the model needs: {listed(absent)}{hint}"
        )
    extra = [name for name in frame.columns if name not in kinds]
    if extra:
        say(f"columns the model does not know are ignored: {listed(extra)}")
    frame = frame[list(kinds)]
    same = [kind == FLAG or dtype_kind(dtype) == kind for kind, dtype in zip(kinds.values(), frame.dtypes, strict=True)]
    if all(same):
        return frame.copy()
    import pandas as pd

    made = {
        name: frame[name] if known else _as_kind(frame[name], kinds[name], say) for name, known in zip(kinds, same, strict=True)
    }
    return pd.DataFrame(made, index=frame.index)


def _as_kind(column: pd.Series[Any], kind: str, say: Say) -> pd.Series[Any]:
    """The column made what it should be. Flags stay as they are: a missing one makes words of them."""
    import pandas as pd

    if kind == FLAG or column_kind(column) == kind:
        return column
    if kind == TEXT:
        return column.astype(object).where(column.isna(), column.astype(str))
    made = pd.to_numeric(column, errors="coerce") if kind == NUMBER else pd.to_datetime(column, errors="coerce")
    odd = column[column.notna() & made.isna()].unique()
    if len(odd):
        say(f"the column {column.name!r} must hold {kind}s: taken as missing are {listed(odd)}")
    return made
