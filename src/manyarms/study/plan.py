"""The plan of a study: what will be spent on what."""

from __future__ import annotations

from dataclasses import dataclass

from ..strategies import Phase


@dataclass(frozen=True, slots=True, repr=False)
class Plan:
    """The phases of a search, and what is spent already. Printed as a table."""

    phases: tuple[Phase, ...]
    budget: int | None
    spent: int

    def __repr__(self) -> str:
        rows = [("phase", "arms", "steps"), *((phase.name, _open(phase.arms), _open(phase.steps)) for phase in self.phases)]
        widths = [max(len(row[i]) for row in rows) for i in range(3)]
        lines = [f"{name:<{widths[0]}}  {arms:>{widths[1]}}  {steps:>{widths[2]}}" for name, arms, steps in rows]
        return "\n".join([*lines, f"budget {_open(self.budget)} steps, {self.spent} spent so far"])


def _open(number: int | None) -> str:
    return "open" if number is None else str(number)
