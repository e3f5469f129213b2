"""Parts of messages: lists of names, and counts with their noun."""

from __future__ import annotations

from collections.abc import Iterable

_SHOWN = 5


def listed(values: Iterable[object], quoted: bool = True) -> str:
    """The first few values, and how many more there are.

    >>> listed("abcdefg")
    "'a', 'b', 'c', 'd', 'e' and 2 more"
    """
    shown = [repr(value) if quoted else str(value) for value in values]
    more = f" and {len(shown) - _SHOWN} more" if len(shown) > _SHOWN else ""
    return ", ".join(shown[:_SHOWN]) + more


def counted(number: int, noun: str) -> str:
    """A number with its noun.

    >>> counted(1, "class"), counted(1_000, "class"), counted(2, "category")
    ('1 class', '1,000 classes', '2 categories')
    """
    plural = noun[:-1] + "ies" if noun.endswith("y") else noun + ("es" if noun.endswith("s") else "s")
    return f"{number:,} {noun if number == 1 else plural}"


def one_line(error: BaseException) -> str:
    """The message of an error without line breaks."""
    return " ".join(str(error).split())


def shown_number(value: float) -> str:
    """A number with commas between thousands.

    >>> shown_number(815498.0), shown_number(815.498)
    ('815,498', '815.498')
    """
    return f"{value:,.10g}"
