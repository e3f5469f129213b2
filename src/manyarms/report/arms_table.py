"""The table of arms, which the script of the page sorts and filters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..dashboard.columns import STATUSES
from ..html import format, parts
from .content import Content

_TOOLS = """<div class="tools" hidden>
<label class="field grow"><span class="unseen">Filter by config or arm</span>
<input type="search" placeholder="Filter by config or arm"></label>
<label class="field"><span class="unseen">Status</span>
<select><option value="">all statuses</option>{options}</select></label>
<output aria-live="polite"></output>
</div>"""


def arms_table(content: Content) -> str:
    """The best arms, and how many are left out."""
    if not content.rows:
        return parts.nothing("No arms yet", "No pull has started yet.")
    options = "".join(f'<option value="{status}">{status}</option>' for status in STATUSES)
    names = [column["name"] for column in content.columns]
    numeric = [_is_numeric(name, [row["cells"][place] for row in content.rows]) for place, name in enumerate(names)]
    is_largest_first = content.facts["direction"] != "minimize"
    head = "".join(_head(column, kind, is_largest_first) for column, kind in zip(content.columns, numeric, strict=True))
    body = "\n".join(_row(row, names, numeric) for row in content.rows)
    table = f'<table class="arms"><thead><tr>{head}</tr></thead><tbody>\n{body}\n</tbody></table>'
    tools = _TOOLS.format(options=options)
    return f'{parts.paragraph(_left_out(content))}<div class="sortable">{tools}{parts.scrolling(table, "Arms")}</div>'


def _left_out(content: Content) -> str:
    """A sentence for what the table does not show."""
    notes = []
    missing = content.total - len(content.rows)
    if missing:
        notes.append(f"Shows the best {len(content.rows):,} of {content.total:,} arms; {missing:,} are left out.")
    if content.hidden_columns:
        notes.append(f"{format.count(content.hidden_columns, 'column')} of configs and metrics are left out.")
    return " ".join(notes)


def _is_numeric(name: str, cells: Sequence[Any]) -> bool:
    return name not in ("status", "parents") and any(isinstance(cell, int | float) for cell in cells)


def _head(column: Mapping[str, str], is_numeric: bool, is_largest_first: bool) -> str:
    is_sorted = column["name"] == "best_reward"
    order, sign = ("descending", "▼") if is_largest_first else ("ascending", "▲")
    sort, shown = (f' aria-sort="{order}"', sign) if is_sorted else ("", "")
    kind = ' class="number"' if is_numeric and column["name"] != "arm" else ""
    title = parts.text(column["title"])
    return (
        f'<th scope="col"{sort}{kind}><button type="button" title="{title}"><span class="title">{title}</span>'
        f'<span class="sign" aria-hidden="true">{shown}</span></button></th>'
    )


def _row(row: Mapping[str, Any], names: Sequence[str], numeric: Sequence[bool]) -> str:
    cells = "".join(_cell(name, cell, kind) for name, cell, kind in zip(names, row["cells"], numeric, strict=True))
    status = row["cells"][names.index("status")]
    return f'<tr id="arm-{int(row["arm"])}" data-arm="{int(row["arm"])}" data-status="{parts.text(status)}">{cells}</tr>'


def _cell(name: str, cell: Any, is_numeric: bool) -> str:
    """A cell. Numbers have their exact value, by which they are sorted."""
    if name == "arm":
        return f'<th scope="row" data-value="{int(cell)}">{int(cell)}</th>'
    if name == "status":
        return f"<td>{parts.badge(cell)}</td>"
    if name == "parents":
        first = min(cell, default="")
        return f'<td data-value="{first}">{", ".join(str(int(arm)) for arm in cell) or format.DASH}</td>'
    html = parts.text(_shown(name, cell))
    is_number = isinstance(cell, int | float) and not isinstance(cell, bool)
    value = f' data-value="{cell if is_number else ""}"' if is_number or cell is None else ""
    kind = ' class="number"' if is_numeric else ""
    return f"<td{kind}{value}>{html}</td>"


def _shown(name: str, cell: Any) -> str:
    if name == "seconds":
        return format.duration(cell)
    return format.plain(cell) if name.startswith("config:") else format.number(cell)
