"""Numbers as people write them: "1,747", "$82.40", "12 %", "(350)". Ambiguous text is not a number."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_CODES = "USD|EUR|GBP|JPY|CHF|CNY|INR|AUD|CAD|NZD|SEK|NOK|DKK|PLN|CZK|BRL|MXN|ZAR|KRW"
_UNIT = rf"[$€£¥₹₩₽₺₪฿]|(?:US|A|C|NZ|HK|R)\$|(?:{_CODES})"
_SPACE = "[ \u00a0\u2009\u202f]"  # spaces that occur inside numbers
_DIGITS = (
    r"\d+(?:\.\d*)?|\.\d+"  # 82.40
    r"|[1-9]\d{0,2}(?:,\d{3})+(?:\.\d*)?"  # 1,747.50; 0,125 is a decimal comma
    r"|[1-9]\d{0,2}(?:\.\d{3})+,\d+|[1-9]\d{0,2}(?:\.\d{3}){2,}"  # 1.747,50 and 1.234.567
    r"|[1-9]\d{0,2}(?:['’\u00a0\u2009\u202f]\d{3})+(?:[.,]\d+)?"  # 1'747.50
)
_SPACED = r"[1-9]\d{0,2}(?: \d{3})+(?:[.,]\d+)?"  # only with a unit, because otherwise it may be a telephone number
_SIGN = "[+\\-−–]"
_WRITTEN = re.compile(
    rf"(?P<open>\()?(?P<sign>{_SIGN})?{_SPACE}?(?P<before>{_UNIT})?{_SPACE}?(?P<inner>{_SIGN})?"
    rf"(?:(?P<digits>{_DIGITS})|(?P<spaced>{_SPACED})){_SPACE}?(?P<after>{_UNIT}|[%‰])?(?P<close>\))?"
)
_GAPS = re.compile("['’ \u00a0\u2009\u202f]")
_LONGEST = 40  # characters of a number


@dataclass(frozen=True, slots=True)
class WrittenNumber:
    """A number as it was written.

    Args:
        value: The number.
        unit: Its currency or percent sign; "" if it has none.
        decimal: Its decimal sign, "." or ","; "" if it has none.
    """

    value: float
    unit: str
    decimal: str


def parse_number(text: str) -> WrittenNumber | None:
    """The number that a text represents; None if it is not clearly a number.

    >>> [parse_number(text).value for text in ("1,747", "$82.40", "12 %", "($1,200)", "1.747,50 €")]
    [1747.0, 82.4, 12.0, -1200.0, 1747.5]
    >>> [parse_number(text) for text in ("0,125", "12,34", "1,23,456", "$", "5 %)", "555 123 456", "$5 €")]
    [None, None, None, None, None, None, None]
    """
    if len(text) > _LONGEST or (found := _WRITTEN.fullmatch(text.strip())) is None:
        return None
    part = found.groupdict(default="")
    if bool(part["open"]) != bool(part["close"]) or (part["open"] and (part["sign"] or part["inner"])):
        return None
    unit = part["before"] or part["after"]
    if (part["before"] and part["after"]) or (part["sign"] and part["inner"]) or (part["spaced"] and not unit):
        return None
    negative = bool(part["open"]) or (part["sign"] or part["inner"]) in ("-", "−", "–")
    value, decimal = _value(part["digits"] or part["spaced"])
    return WrittenNumber(-value if negative else value, unit, decimal)


def _value(digits: str) -> tuple[float, str]:
    """The value of digits with separators, and the decimal sign."""
    joined = _GAPS.sub("", digits)
    signs = [sign for sign in joined if sign in ".,"]
    decimal = signs[-1] if signs and signs.count(signs[-1]) == 1 else ""
    if signs == [","] and joined == digits:  # commas alone separate thousands, unless something else does
        decimal = ""
    whole, _, fraction = joined.partition(decimal) if decimal else (joined, "", "")
    return float(f"{re.sub('[.,]', '', whole)}.{fraction or 0}"), decimal


def written_numbers(texts: Iterable[str]) -> NDArray[np.float64]:
    """The numbers that these texts represent; NaN if they are not clearly numbers."""
    parsed = map(parse_number, texts)
    return np.array([np.nan if number is None else number.value for number in parsed], dtype=float)


def are_consistent(texts: Iterable[str]) -> bool:
    """Whether all numbers have the same currency or percent sign, if any, and the same decimal sign.

    >>> are_consistent(["$5", "7", "$1,200"]), are_consistent(["$5", "€5"]), are_consistent(["1.747,50", "1.747"])
    (True, False, False)
    """
    parsed = [number for number in map(parse_number, texts) if number is not None]
    return all(len({getattr(number, name) for number in parsed} - {""}) <= 1 for name in ("unit", "decimal"))
