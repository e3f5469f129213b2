"""Turns values into short text, in the same way as the dashboard's format.js."""

from __future__ import annotations

import math
import time
from typing import Any

DASH = "–"
"""Shown where there is no value."""

_UNITS = ("B", "kB", "MB", "GB", "TB")


def number(value: float | None) -> str:
    """A number with up to six digits.

    >>> number(1234567), number(0.123456789), number(1e-7), number(None), number(float("nan"))
    ('1,234,567', '0.123457', '1.000e-07', '–', '–')
    """
    if value is None or not math.isfinite(value):
        return DASH
    if value == int(value) and abs(value) < 1e15:
        return f"{int(value):,}"
    if not 1e-4 <= abs(value) < 1e9:
        return f"{value:.3e}"
    whole, _, digits = f"{float(f'{value:.6g}'):,.9f}".partition(".")
    digits = digits.rstrip("0")
    return f"{whole}.{digits}" if digits else whole


def plain(value: Any) -> str:
    """A value of a config: a number, text, true or false.

    >>> plain(10000), plain(0.5), plain("relu"), plain(True), plain(None)
    ('10000', '0.5', 'relu', 'true', '–')
    """
    if value is None:
        return DASH
    if isinstance(value, bool):
        return str(value).lower()
    return number(value).replace(",", "") if isinstance(value, int | float) else str(value)


def duration(seconds: float | None) -> str:
    """A duration.

    >>> duration(0.0123), duration(75), duration(7260)
    ('12 ms', '1 min 15 s', '2 h 1 min')
    """
    if seconds is None or not math.isfinite(seconds):
        return DASH
    if seconds < 0.9995:
        return f"{1000 * seconds:.0f} ms"
    if seconds < 59.95:
        return f"{seconds:.1f} s"
    whole, minutes = round(seconds), round(seconds / 60)
    return f"{whole // 60} min {whole % 60} s" if whole < 3600 else f"{minutes // 60} h {minutes % 60} min"


def size(in_bytes: float | None) -> str:
    """A size.

    >>> size(999), size(1234), size(4_560_000_000)
    ('999 B', '1.2 kB', '4.6 GB')
    """
    if in_bytes is None:
        return DASH
    unit = 0
    while in_bytes >= 999.5 and unit < len(_UNITS) - 1:
        in_bytes, unit = in_bytes / 1000, unit + 1
    return f"{in_bytes:.1f} {_UNITS[unit]}" if unit and in_bytes < 99.95 else f"{in_bytes:.0f} {_UNITS[unit]}"


def moment(seconds: float | None) -> str:
    """A date and time in UTC, from seconds since 1970. Pages may be read anywhere.

    >>> moment(0.5), moment(1_700_000_000), moment(1e20)
    ('–', '2023-11-14 22:13 UTC', '–')
    """
    if seconds is None or not 1 <= seconds < 2**36:
        return DASH
    return time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(seconds))


def count(how_many: int, noun: str) -> str:
    """A number and a noun in the right form.

    >>> count(1, "pull"), count(2000, "pull")
    ('1 pull', '2,000 pulls')
    """
    return f"{how_many:,} {noun}{'' if how_many == 1 else 's'}"
