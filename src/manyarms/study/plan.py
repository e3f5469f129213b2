"""The plan of a study: how the budget will be spent."""

from __future__ import annotations

from dataclasses import dataclass

from ..html.notebook import block_html, heading_html, rows_html
from ..strategies import Phase


@dataclass(frozen=True, slots=True, repr=False)
class Plan:
    """The phases of a search, and how much of the budget has been spent. Printed as a table."""

    phases: tuple[Phase, ...]
    budget: int | None
    spent: int

    def __repr__(self) -> str:
        rows = [("phase", "arms", "steps"), *((phase.name, _open(phase.arms), _open(phase.steps)) for phase in self.phases)]
        widths = [max(len(row[i]) for row in rows) for i in range(3)]
        lines = [f"{name:<{widths[0]}}  {arms:>{widths[1]}}  {steps:>{widths[2]}}" for name, arms, steps in rows]
        return "\n".join([*lines, self._budget()])

    def _repr_html_(self) -> str:
        rows = [(phase.name, _known(phase.arms), _known(phase.steps)) for phase in self.phases]
        return block_html(heading_html("Plan", self._budget()), rows_html(("phase", "arms", "steps"), rows) if rows else "")

    def _budget(self) -> str:
        return f"budget {_open(self.budget)} steps, {self.spent} spent so far"


def _open(number: int | None) -> str:
    return str(_known(number))


def _known(number: int | None) -> int | str:
    return "open" if number is None else number
