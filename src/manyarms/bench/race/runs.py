"""The runs of a race: one method on one problem with one seed."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ..problems.protocol import noise_seed
from ..runs.results import Key, Row
from .charged_problem import ChargedProblem
from .families import FAMILIES
from .methods import OURS, Method, methods, search

ANYTIME_MARKS = (1, 2, 3, 5, 7, 10, 14, 20, 30, 50, 70, 100, 140, 200)
"""The numbers of full trainings after which the recommendation of an anytime method is measured."""
TABLE_MARKS = (5, 10, 20, 50, 100, 200)
"""The columns of the tables, and the budgets of methods whose settings depend on the budget."""


@dataclass(frozen=True, slots=True)
class Run:
    """One search.

    Attributes:
        family: Family of the problem.
        number: Number of the problem in its family.
        method: Name of the method.
        seed: Number of the repetition. The random seed also depends on the problem; see `search_seed`.
        marks: Numbers of full trainings after which the recommendation is measured. The last one is the budget.
    """

    family: str
    number: int
    method: str
    seed: int
    marks: tuple[int, ...]

    def __str__(self) -> str:
        return f"{self.method} on {self.problem}, seed {self.seed}, budget {self.budget}"

    @property
    def problem(self) -> str:
        """Name of the problem."""
        return FAMILIES[self.family].names()[self.number]

    @property
    def budget(self) -> int:
        """Budget in full trainings."""
        return self.marks[-1]

    def key(self, version: str) -> Key:
        """What identifies its rows in the result file.

        Args:
            version: Version of the library that the method belongs to.
        """
        return (self.family, self.problem, self.method, self.seed, self.budget, version)


def marks_up_to(budget: int, marks: Sequence[int]) -> tuple[int, ...]:
    """The marks below a budget, followed by the budget.

    >>> marks_up_to(30, TABLE_MARKS)
    (5, 10, 20, 30)
    """
    return (*(mark for mark in marks if mark < budget), budget)


def plan(numbers: Mapping[str, Iterable[int]], racing: Iterable[Method], seeds: int, budget: int) -> list[Run]:
    """All runs of a race.

    Args:
        numbers: Numbers of the problems, by family.
        racing: Methods. A method that cannot search the space of a problem is left out there.
        seeds: Number of seeds, which start at 0.
        budget: Budget in full trainings.
    """
    racing = list(racing)
    return [
        Run(family, number, method.name, seed, marks)
        for family, chosen in numbers.items()
        for number in chosen
        for method in racing
        if method.suits(FAMILIES[family].problems()[number].space)
        for seed in range(seeds)
        for marks in _marks(method, budget)
    ]


def _marks(method: Method, budget: int) -> list[tuple[int, ...]]:
    """The marks of each run: one run for an anytime method, else one for each budget."""
    if method.anytime:
        return [marks_up_to(budget, ANYTIME_MARKS)]
    return [(mark,) for mark in marks_up_to(budget, TABLE_MARKS)]


def search_seed(seed: int, problem: str) -> int:
    """The random seed of a search. It is the same for all methods, and differs between problems.

    If a seed drew the same configurations on every problem, the results would not be independent, and standard errors over
    seeds would not count how much luck there is in the draws on each of them.
    """
    return noise_seed(seed, *problem.encode()) // 2  # below 2**31, which every library accepts


def duration_group(run: Run) -> tuple[str, str, int]:
    """Runs with the same group take about the same time."""
    return (run.family, run.method, run.budget)


def execute_run(run: Run, patience: float = math.inf) -> list[Row]:
    """Search, and return the rows of the run.

    Args:
        run: The run.
        patience: CPU seconds of deciding after which the search is stopped. The regret at later marks is NaN.
    """
    method, family = methods()[run.method], FAMILIES[run.family]
    method.load()
    problem = ChargedProblem(family.problems()[run.number], run.marks, search_seed(run.seed, run.problem), patience)
    search(method, problem)
    last = problem.measurements[-1] if problem.measurements else None
    measured = [(found.regret, found.pulls, found.arms, found.deciding) for found in problem.measurements]
    stopped = (math.nan, last.pulls, last.arms, last.deciding) if last else (math.nan, 0, 0, 0.0)
    measured += [stopped] * (len(run.marks) - len(measured))
    shared = {
        "family": run.family,
        "problem": run.problem,
        "half": family.half_of(run.number),
        "method": run.method,
        "peer": method.name not in OURS,
        "version": method.version,
        "seed": run.seed,
        "budget": run.budget,
    }
    names = ("regret", "pulls", "arms", "deciding")
    return [
        {**shared, "trainings": mark, **dict(zip(names, values, strict=True))}
        for mark, values in zip(run.marks, measured, strict=True)
    ]
