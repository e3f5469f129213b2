"""A heat: one entrant on one problem with one seed; which heats make up a race, and what comes out of each."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .entrants import OURS, Entrant, entrants, run
from .families import FAMILIES
from .track import Track

READ = (1, 2, 3, 5, 7, 10, 14, 20, 30, 50, 70, 100, 140, 200)
"""When an entrant is read along the way, in full trainings."""
TABLED = (5, 10, 20, 50, 100, 200)
"""What tables show, and the budgets of entrants whose settings follow the budget."""

Row = dict[str, Any]
"""One reading, by column."""


@dataclass(frozen=True, slots=True)
class Heat:
    """One search.

    Attributes:
        family: of the problem.
        number: of the problem in its family.
        entrant: who searches.
        seed: of the search and of the noise.
        marks: when it is read, in full trainings; the last is the budget.
    """

    family: str
    number: int
    entrant: str
    seed: int
    marks: tuple[int, ...]

    def __str__(self) -> str:
        return f"{self.entrant} on {FAMILIES[self.family].names()[self.number]}, seed {self.seed}, budget {self.marks[-1]}"


Key = tuple[str, str, str, int, int, str]
"""Family, problem, entrant, seed, budget, version: what makes a heat another one."""


def key(heat: Heat, version: str) -> Key:
    """What its results are found by."""
    problem = FAMILIES[heat.family].names()[heat.number]
    return (heat.family, problem, heat.entrant, heat.seed, heat.marks[-1], version)


def marks_up_to(budget: int, marks: Sequence[int]) -> tuple[int, ...]:
    """The marks below a budget, and the budget.

    >>> marks_up_to(30, TABLED)
    (5, 10, 20, 30)
    """
    return (*(mark for mark in marks if mark < budget), budget)


def plan(numbers: Mapping[str, Iterable[int]], racing: Iterable[Entrant], seeds: int, budget: int) -> list[Heat]:
    """All heats of a race.

    Args:
        numbers: of the problems, by family.
        racing: who takes part; one that does not suit the space of a problem is left out there.
        seeds: how many, from 0.
        budget: in full trainings.
    """
    racing = list(racing)
    return [
        Heat(family, number, entrant.name, seed, marks)
        for family, chosen in numbers.items()
        for number in chosen
        for entrant in racing
        if entrant.suits(FAMILIES[family].problems()[number].space)
        for seed in range(seeds)
        for marks in _runs(entrant, budget)
    ]


def _runs(entrant: Entrant, budget: int) -> list[tuple[int, ...]]:
    if entrant.anytime:
        return [marks_up_to(budget, READ)]
    return [(mark,) for mark in marks_up_to(budget, TABLED)]


def run_heat(heat: Heat, patience: float = math.inf) -> list[Row]:
    """Its readings. Those of marks that it did not reach within its patience, in seconds, have NaN as their regret."""
    entrant, family = entrants()[heat.entrant], FAMILIES[heat.family]
    entrant.load()
    track = Track(family.problems()[heat.number], heat.marks, heat.seed, patience)
    run(entrant, track)
    last = track.readings[-1] if track.readings else None
    measured = [(reading.regret, reading.pulls, reading.arms, reading.deciding) for reading in track.readings]
    stopped = (math.nan, last.pulls, last.arms, last.deciding) if last else (math.nan, 0, 0, 0.0)
    measured += [stopped] * (len(heat.marks) - len(measured))
    shared = {
        "family": heat.family,
        "problem": family.names()[heat.number],
        "half": family.half_of(heat.number),
        "entrant": heat.entrant,
        "peer": entrant.name not in OURS,
        "version": entrant.version,
        "seed": heat.seed,
        "budget": heat.marks[-1],
    }
    names = ("regret", "pulls", "arms", "deciding")
    return [
        {**shared, "trainings": mark, **dict(zip(names, values, strict=True))}
        for mark, values in zip(heat.marks, measured, strict=True)
    ]


class Waiting:
    """Heats to come, in groups that take about as long each: the same entrant and budget in the same family.

    First one of each group runs, then the longest, so that no long one is left at the end, when the other workers are idle.
    """

    def __init__(self, heats: Iterable[Heat]) -> None:
        self._groups: dict[Any, deque[Heat]] = {}
        self._seconds: dict[Any, float] = {}
        for heat in heats:
            self._groups.setdefault(_group(heat), deque()).append(heat)

    def __bool__(self) -> bool:
        return bool(self._groups)

    def pop(self) -> Heat:
        """The next heat."""
        group = longest(self._groups, self._seconds)
        heat = self._groups[group].popleft()
        self._seconds.setdefault(group, 0.0)  # on its way: others first, until it is known
        if not self._groups[group]:
            del self._groups[group]
        return heat

    def took(self, heat: Heat, seconds: float) -> None:
        """Note how long a heat was on its way."""
        self._seconds[_group(heat)] = seconds


def longest(groups: Iterable[Any], seconds: Mapping[Any, float]) -> Any:
    """The group that takes longest, as far as known; unknown ones come first."""
    return max(groups, key=lambda group: seconds.get(group, math.inf))


def _group(heat: Heat) -> tuple[str, str, int]:
    return (heat.family, heat.entrant, heat.marks[-1])
