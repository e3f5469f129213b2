"""What is raced on: problems in families, half of them to tune on, the other half to report on."""

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
        name: in tables and plots.
        make: gives the problems, always the same ones in the same order.
        half: which half all of them belong to; by default those with even numbers are tuned on, the odd ones reported on.
    """

    name: str
    make: Callable[[], Iterable[Problem]] = field(repr=False)
    half: str | None = None

    @cache  # noqa: B019 - families live as long as the process
    def problems(self) -> list[Problem]:
        """Loaded once in each process."""
        return list(self.make())

    def names(self) -> list[str]:
        """Of its problems; where several have one, they are numbered.

        >>> FAMILIES["fast curves"].names()
        ['fast curves 0', 'fast curves 1']
        """
        names = [problem.name for problem in self.problems()]
        seen = Counter(names)
        return [name if seen[name] == 1 else f"{name} {number}" for number, name in enumerate(names)]

    def half_of(self, number: int) -> str:
        """Whether a problem is tuned on or reported on."""
        return self.half or HALVES[number % 2]

    def numbers(self, half: str = "all") -> list[int]:
        """The problems of a half."""
        return [number for number in range(len(self.problems())) if half in ("all", self.half_of(number))]

    def trouble(self) -> str | None:
        """Why its problems cannot be had, and what to do; None where they can."""
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
