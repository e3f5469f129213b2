"""Small HTML tables for notebooks. All text in them is escaped and shortened, because it may come from someone else."""

from __future__ import annotations

import math
import reprlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape
from itertools import islice
from typing import Any

from ..safe_text import safe_text

LONGEST = 200
"""Maximum number of characters of one text."""

_MOST_VALUES = 20  # values of a config
_TABLE = "border-collapse:collapse;border:none;background:transparent;color:inherit;font-size:0.9em;margin:0.2em 0"
_CELL = (
    "border:none;background:transparent;padding:0.1em 0.8em 0.1em 0;text-align:left;vertical-align:top;overflow-wrap:anywhere"
)
_FAINT = "opacity:0.65;font-weight:normal"
_BAR = "display:inline-block;vertical-align:middle;width:10em;height:0.5em;border:1px solid currentColor;border-radius:0.25em"
_FILLED = "display:block;height:100%;background:currentColor"
_short = reprlib.Repr()  # bounds the time as well as the length: a config may hold millions of values
_short.maxlevel = 4
_short.maxdict = _short.maxlist = _short.maxtuple = _short.maxset = 20
_short.maxstring = _short.maxother = LONGEST


def shown(value: Any) -> str:
    """Any value as text: numbers with six digits, text as it is, and other values by their representation. Never raises.

    >>> shown(0.123456789), shown("relu"), shown(None), shown([1, "a"]), shown({"rate": 0.123456789, "depth": 3})
    ('0.123457', 'relu', '–', "[1, 'a']", 'rate: 0.123457, depth: 3')
    """
    if value is None:
        return "–"
    if isinstance(value, str):
        return value
    try:
        if isinstance(value, Mapping) and value:
            return ", ".join(f"{name}: {_plain(part)}" for name, part in config_facts(value))
        return _plain(value)
    except Exception:  # `__repr__` may be user code
        return f"a {type(value).__name__} that cannot be shown"


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else f"{value:.6g}" if isinstance(value, float) else _short.repr(value)


def text_html(value: Any, longest: int = LONGEST) -> str:
    r"""A value as HTML: shortened, and with control characters and HTML shown as text.

    >>> text_html("<b>\x1b[2J</b>")
    '&lt;b&gt;\\x1b[2J&lt;/b&gt;'
    """
    text = shown(value)
    return escape(safe_text(text if len(text) <= longest else f"{text[: longest - 1]}…"))


def heading_html(kind: str, *facts: Any) -> str:
    """A line with the kind of an object in bold, and facts about it."""
    return f"<div><b>{text_html(kind)}</b>{''.join(f' · {text_html(fact)}' for fact in facts)}</div>"


def facts_html(facts: Iterable[tuple[str, Any]], title: str = "") -> str:
    """A table with a name and a value in each row, below a title if there is one."""
    rows = (f'<th style="{_CELL};{_FAINT}">{text_html(name)}</th>{_cell(value)}' for name, value in facts)
    head = f'<div style="{_FAINT};margin-top:0.4em">{text_html(title)}</div>' if title else ""
    return head + _table("".join(f"<tr>{row}</tr>" for row in rows))


def rows_html(heads: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A table with a heading for each column. Numbers are aligned to the right."""
    rows = list(rows)
    firsts = rows[0] if rows else heads
    head = "".join(
        f'<th style="{_CELL};{_FAINT}{_align(first)}">{text_html(name)}</th>' for name, first in zip(heads, firsts, strict=True)
    )
    body = "".join(f"<tr>{''.join(_cell(value, _align(value)) for value in row)}</tr>" for row in rows)
    return _table(f"<tr>{head}</tr>{body}")


def folded_html(title: str, html: str) -> str:
    """HTML that is shown after a click on its title."""
    return f'<details><summary style="{_FAINT};cursor:pointer">{text_html(title)}</summary>{html}</details>'


def block_html(*parts: str) -> str:
    """The HTML of one object."""
    return f'<div style="max-width:60em;line-height:1.4">{"".join(parts)}</div>'


def html_or_nothing(render: Callable[[Any], str], value: Any) -> str:
    """The HTML that a function makes of an object; empty if that fails, because an object must always be shown."""
    try:
        return render(value)
    except Exception:
        return ""


def bar_html(fraction: float) -> str:
    """A bar that is filled from 0 to 1."""
    filled = 100 * min(max(fraction, 0.0), 1.0) if math.isfinite(fraction) else 0.0
    return f'<span style="{_BAR}"><span style="{_FILLED};width:{filled:.1f}%;"></span></span>'


def config_facts(config: Any) -> list[tuple[str, Any]]:
    """A config as facts: one for each parameter of a dict, otherwise a single one.

    >>> config_facts({"rate": 0.1, "depth": 3}), config_facts([1, 2])
    ([('rate', 0.1), ('depth', 3)], [('config', [1, 2])])
    """
    if not isinstance(config, Mapping) or not config:
        return [("config", config)]
    facts = [(_plain(key), value) for key, value in islice(config.items(), _MOST_VALUES)]
    more = len(config) - len(facts)
    return [*facts, ("…", f"{more} more")] if more else facts


def _cell(value: Any, align: str = "") -> str:
    return f'<td style="{_CELL}{align}">{text_html(value)}</td>'


def _align(value: Any) -> str:
    return ";text-align:right" if isinstance(value, (int, float)) and not isinstance(value, bool) else ""


def _table(rows: str) -> str:
    return f'<table style="{_TABLE}"><tbody>{rows}</tbody></table>'
