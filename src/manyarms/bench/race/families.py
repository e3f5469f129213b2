"""Families of test problems: one half for tuning the library, the other half for reporting results."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cache

from ...errors import ManyarmsError
from .. import problems
from ..problems import CurveWorld, Hartmann, Problem

HALVES = ("tuned", "reported")


@dataclass(frozen=True, eq=False)
class Family:
    """Problems of one kind.

    Attributes:
        name: Name in tables and plots.
        make: Returns the problems, always the same ones in the same order.
        half: Half that all problems belong to. By default those with even numbers are for tuning, the others for reporting.
    """

    name: str
    make: Callable[[], Iterable[Problem]] = field(repr=False)
    half: str | None = None

    @cache  # noqa: B019 - families live as long as the process
    def problems(self) -> list[Problem]:
        """The problems, loaded once in each process."""
        return list(self.make())

    def names(self) -> list[str]:
        """Names of the problems. Problems with the same name are numbered.

        >>> FAMILIES["fast curves"].names()
        ['fast curves 0', 'fast curves 1']
        """
        names = [problem.name for problem in self.problems()]
        seen = Counter(names)
        return [name if seen[name] == 1 else f"{name} {number}" for number, name in enumerate(names)]

    def half_of(self, number: int) -> str:
        """The half that a problem belongs to: "tuned" or "reported"."""
        return self.half or HALVES[number % 2]

    def numbers(self, half: str = "all") -> list[int]:
        """Numbers of the problems in a half."""
        return [number for number in range(len(self.problems())) if half in ("all", self.half_of(number))]

    def trouble(self) -> str | None:
        """Why its problems are not available, and what to do; None if they are."""
        try:
            self.problems()
        except (ManyarmsError, ImportError, OSError) as error:
            return str(error)
        return None


def _curves(kind: str) -> Family:
    return Family(f"{kind} curves", lambda: [CurveWorld(kind, seed=landscape) for landscape in range(2)])


FAMILIES: dict[str, Family] = {
    family.name: family
    for family in (
        Family("LCBench", lambda: list(problems.lcbench())[::3]),
        Family("TaskSet", problems.taskset),
        Family("LCDB", lambda: map(problems.lcdb, (3, 393, 901, 1111))),
        Family("NAS-Bench-201", lambda: map(problems.nasbench201, ("cifar10", "cifar100", "imagenet"))),
        Family("XGBoost", lambda: map(problems.rbv2_xgboost, problems.RBV2_TASKS[::2])),
        Family("Hartmann", lambda: itertools.starmap(Hartmann, ((3, "good"), (6, "good"), (6, "bad"), (3, "bad")))),
        *map(_curves, ("fast", "slow", "crossing")),
        Family("digits MLP", lambda: [problems.digits_mlp()], half="tuned"),
        Family("boosting", lambda: [problems.boosted_trees()], half="reported"),
    )
}
"""The families of the standard race, by name."""
