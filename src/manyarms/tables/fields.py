"""Refuses tables with fields that are too long to train on."""

from __future__ import annotations

from typing import Any

_LONGEST = 10_000_000  # characters; turning one such text into numbers takes several seconds


def check_fields(path: object, frame: Any, sampled: bool) -> None:
    """Refuse a table with a field that is too long; the error says where it is, unless the rows are a sample."""
    texts = [name for name, kind in frame.dtypes.items() if str(kind) in ("object", "str", "string")]
    for name in texts:
        if frame[name].memory_usage(index=False, deep=True) <= _LONGEST:
            continue
        lengths = _lengths(frame[name])
        if (longest := int(lengths.max())) > _LONGEST:
            row = "" if sampled else f", row {int(lengths.argmax()) + 1:,}"
            raise ValueError(
                f"{path} has a field of {longest:,} characters in column {name!r}{row}, and at most {_LONGEST:,} can be used: "
                "shorten it, leave out the row or the column, or check whether a quote is missing"
            )


def _lengths(column: Any) -> Any:
    """The lengths of the texts in a column; 0 for what is not text."""
    if str(column.dtype) != "object":
        return column.str.len().fillna(0)
    return column.map(lambda value: len(value) if isinstance(value, str) else 0)
