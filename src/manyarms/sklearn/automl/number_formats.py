"""Numbers as people write them: "1,747", "$82.40", "12 %", "(350)". Ambiguous text is not a number."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

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
_COMMA_DIGITS = (
    r"\d+(?:,\d*)?|,\d+"  # 82,40
    r"|[1-9]\d{0,2}(?:\.\d{3})+(?:,\d*)?"  # 1.747,50 and 1.747
    r"|[1-9]\d{0,2}(?:['’\u00a0\u2009\u202f]\d{3})+(?:,\d+)?"  # 1'747,50
)
_COMMA_SPACED = r"[1-9]\d{0,2}(?: \d{3})+(?:,\d+)?"
_SIGN = "[+\\-−–]"


def _written(digits: str, spaced: str) -> re.Pattern[str]:
    return re.compile(
        rf"(?P<open>\()?(?P<sign>{_SIGN})?{_SPACE}?(?P<before>{_UNIT})?{_SPACE}?(?P<inner>{_SIGN})?"
        rf"(?:(?P<digits>{digits})|(?P<spaced>{spaced})){_SPACE}?(?P<after>{_UNIT}|[%‰])?(?P<close>\))?"
    )


_WRITTEN = {".": _written(_DIGITS, _SPACED), ",": _written(_COMMA_DIGITS, _COMMA_SPACED)}
_GROUPS = r"[1-9]\d{0,2}(?:\.\d{3})+"
_THOUSANDS = re.compile(rf"(?<![\d.,]){_GROUPS}(?![\d.,])")
_MARKED = re.compile(rf"(?<![\d.,])({_GROUPS}),0(?!\d)")
_GAPS = re.compile("['’ \u00a0\u2009\u202f]")
_MEASURED = re.compile(
    rf"[^A-Za-z]*?[\d.,]+{_SPACE}?(?P<unit>°?[^\W\d_]{{1,12}}[23]?(?:[ /][^\W\d_]{{1,12}}[23]?)?|°)"
)  # 69.4 m², 120 km/h
_NEARLY_ALL = 0.95  # share of the values of a column that must have the same unit
_LONGEST = 40  # characters of a number


@dataclass(frozen=True, slots=True)
class WrittenNumber:
    """A number as it was written.

    Args:
        value: The number.
        unit: Its currency, percent sign or unit of measurement; "" if it has none.
        decimal: Its decimal sign, "." or ","; "" if it does not show which. Points between thousands show a comma.
    """

    value: float
    unit: str
    decimal: str


@dataclass(frozen=True, slots=True)
class NumberFormat:
    """How the numbers of a column are written.

    Args:
        decimal: The decimal sign, "." or ",". With a comma, points separate thousands.
        unit: The unit of measurement after the numbers, such as "m²"; "" if there is none.
    """

    decimal: str = "."
    unit: str = ""


_PLAIN = NumberFormat()


def parse_number(text: str, format: NumberFormat = _PLAIN) -> WrittenNumber | None:
    """The number that a text represents; None if it is not clearly a number.

    Args:
        text: The text.
        format: How the numbers of its column are written.

    >>> [parse_number(text).value for text in ("1,747", "$82.40", "12 %", "($1,200)", "1.747,50 €")]
    [1747.0, 82.4, 12.0, -1200.0, 1747.5]
    >>> [parse_number(text) for text in ("0,125", "12,34", "1,23,456", "$", "5 %)", "555 123 456", "$5 €")]
    [None, None, None, None, None, None, None]
    """
    text = text.strip()
    if format.unit and text.endswith(format.unit):
        number = parse_number(text.removesuffix(format.unit), NumberFormat(format.decimal))
        return replace(number, unit=format.unit) if number is not None and not number.unit else None
    if len(text) > _LONGEST or (found := _WRITTEN[format.decimal].fullmatch(text)) is None:
        return None
    part = found.groupdict(default="")
    if bool(part["open"]) != bool(part["close"]) or (part["open"] and (part["sign"] or part["inner"])):
        return None
    unit = part["before"] or part["after"]
    if (part["before"] and part["after"]) or (part["sign"] and part["inner"]) or (part["spaced"] and not unit):
        return None
    negative = bool(part["open"]) or (part["sign"] or part["inner"]) in ("-", "−", "–")
    digits = part["digits"] or part["spaced"]
    value, shown = _comma_value(digits) if format.decimal == "," else _value(digits)
    return WrittenNumber(-value if negative else value, unit, shown)


def _value(digits: str) -> tuple[float, str]:
    """The value of digits with separators, and the decimal sign."""
    joined = _GAPS.sub("", digits)
    signs = [sign for sign in joined if sign in ".,"]
    decimal = signs[-1] if signs and signs.count(signs[-1]) == 1 else ""
    if signs == [","] and joined == digits:  # commas alone separate thousands, unless something else does
        decimal = ""
    whole, _, fraction = joined.partition(decimal) if decimal else (joined, "", "")
    return float(f"{re.sub('[.,]', '', whole)}.{fraction or 0}"), "," if signs.count(".") > 1 else decimal


def _comma_value(digits: str) -> tuple[float, str]:
    """The value of digits with a decimal comma, and the decimal sign."""
    joined = _GAPS.sub("", digits)
    return float(joined.replace(".", "").replace(",", ".")), "," if set(joined) & {".", ","} else ""


def number_format(texts: Iterable[str]) -> NumberFormat:
    """How the numbers of a column are written.

    >>> number_format(["69,4 m²", "80 m²"]), number_format(["69.4 kg", "153 lb"])
    (NumberFormat(decimal=',', unit='m²'), NumberFormat(decimal='.', unit=''))
    """
    texts = list(texts)
    unit = _common_unit(texts)
    return NumberFormat(_decimal_of(texts, unit), unit)


def _common_unit(texts: Sequence[str]) -> str:
    """The unit of measurement after nearly all numbers; "" if there is none."""
    found = (_MEASURED.fullmatch(text.strip()) for text in texts if len(text) <= _LONGEST)
    units = Counter(match["unit"] for match in found if match and parse_number(match.string) is None)
    unit, times = next(iter(units.most_common(1)), ("", 0))
    return unit if times >= _NEARLY_ALL * len(texts) else ""


def _decimal_of(texts: Sequence[str], unit: str) -> str:
    """The decimal sign of the numbers in a column: "," if some show it and all can be read that way; else ".".

    >>> [_decimal_of(texts, "") for texts in (["815.498", "1.262.905"], ["€ 815.498", "€ 12,50"], ["815.498", "12.5"])]
    [',', ',', '.']
    """
    shown = False
    for text in texts:
        point, comma = (parse_number(text, NumberFormat(sign, unit)) for sign in ".,")
        if point is not None and comma is None:
            return "."
        if comma is not None and comma.decimal == ",":
            shown |= bool(comma.unit) if point is None else point.decimal == ","
    return "," if shown else "."


def mark_thousands(text: str) -> str:
    """The same number with a decimal comma, which shows that its points separate thousands.

    >>> mark_thousands("€ 815.498"), mark_thousands("12,5"), unmarked("€ 815.498,0")
    ('€ 815.498,0', '12,5', '€ 815.498')
    """
    return _THOUSANDS.sub(r"\g<0>,0", text)


def unmarked(text: str) -> str:
    """The text before `mark_thousands`."""
    return _MARKED.sub(r"\1", text)


def written_numbers(texts: Iterable[str], format: NumberFormat = _PLAIN) -> NDArray[np.float64]:
    """The numbers that these texts represent; NaN if they are not clearly numbers."""
    parsed = (parse_number(text, format) for text in texts)
    return np.array([np.nan if number is None else number.value for number in parsed], dtype=float)


def are_consistent(texts: Iterable[str]) -> bool:
    """Whether all numbers have the same unit, if any, and the same decimal sign.

    >>> are_consistent(["$5", "7", "$1,200"]), are_consistent(["$5", "€5"]), are_consistent(["1.747,50", "17.47"])
    (True, False, False)
    """
    texts = list(texts)
    format = number_format(texts)
    parsed = [number for text in texts if (number := parse_number(text, format)) is not None]
    return all(len({getattr(number, name) for number in parsed} - {""}) <= 1 for name in ("unit", "decimal"))
