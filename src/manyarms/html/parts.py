"""The parts that pages are made of. Every function escapes the text it is given; only arguments named `html` are HTML."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from html import escape

from ..safe_text import safe_text

_LINES = "\n\t"


def text(value: object) -> str:
    r"""Text as HTML: tags, quotes and control characters are shown, and do nothing.

    >>> text("<b>\x1b[2J")
    '&lt;b&gt;\\x1b[2J'
    """
    return escape(safe_text(value, keep=_LINES))


def section(id: str, title: str, html: str) -> str:
    """A part of the page with a heading."""
    heading = f'<h2 id="{text(id)}-title">{text(title)}</h2>'
    return f'<section id="{text(id)}" aria-labelledby="{text(id)}-title">{heading}\n{html}\n</section>'


def paragraph(words: object, kind: str = "quiet") -> str:
    """A paragraph; empty if there are no words."""
    return f'<p class="{kind}">{text(words)}</p>' if words else ""


def nothing(title: str, words: str) -> str:
    """A box that says that there is nothing to show."""
    return f'<div class="empty"><h3>{text(title)}</h3><p>{text(words)}</p></div>'


def badge(state: str) -> str:
    """A word for the state of a study, an arm or a pull."""
    return f'<span class="badge {text(state)}">{text(state)}</span>'


def fact(label: str, html: str, kind: str = "") -> str:
    """A label and a value."""
    return f'<div class="fact {kind}"><dt class="label">{text(label)}</dt><dd class="value">{html}</dd></div>'


def facts(html: Iterable[str]) -> str:
    """Several facts side by side."""
    return f'<dl class="facts card">{"".join(html)}</dl>'


def pairs(values: Iterable[tuple[str, str]]) -> str:
    """Names and values in one paragraph."""
    rows = "".join(f"<div><dt>{text(name)}</dt><dd>{text(value)}</dd></div>" for name, value in values)
    return f'<dl class="inline">{rows}</dl>'


def folded(title: str, html: str) -> str:
    """HTML that is shown after a click on its title, and in print."""
    return f"<details><summary>{text(title)}</summary>{html}</details>"


def code(words: object) -> str:
    """Text of several lines, as it is."""
    return f'<pre tabindex="0">{text(words)}</pre>'


def table(heads: Sequence[str], rows: Iterable[Sequence[str]], label: str, kind: str = "", numbers: Container[int] = ()) -> str:
    """A table of text, in a box that scrolls if it is large.

    Args:
        heads: The titles of the columns.
        rows: The cells of each row.
        label: What the table shows, for screen readers.
        kind: Classes of the box.
        numbers: Positions of the columns that are aligned to the right.
    """
    aligned = [' class="number"' if place in numbers else "" for place in range(len(heads))]
    head = "".join(f'<th scope="col"{how}>{text(name)}</th>' for name, how in zip(heads, aligned, strict=True))
    body = "\n".join(
        f"<tr>{''.join(f'<td{how}>{text(cell)}</td>' for cell, how in zip(row, aligned, strict=True))}</tr>" for row in rows
    )
    return scrolling(f"<table><thead><tr>{head}</tr></thead><tbody>\n{body}\n</tbody></table>", label, kind)


def scrolling(html: str, label: str, kind: str = "") -> str:
    """A box that scrolls if its content is large, also with the keyboard."""
    return f'<div class="scroll {kind}" role="region" aria-label="{text(label)}" tabindex="0">{html}</div>'


def figure(id: str, title: str, note: str, html: str, is_wide: bool = False) -> str:
    """A chart with its title and note. Without HTML, it is only these."""
    frame = f'<div class="frame">{html}</div>' if html else ""
    kind = "card chart wide" if is_wide else "card chart"
    return (
        f'<figure class="{kind}" id="chart-{text(id)}"><figcaption><h3>{text(title)}</h3>{paragraph(note, "quiet note")}'
        f"</figcaption>{frame}</figure>"
    )
