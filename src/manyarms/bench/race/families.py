"""Families of test problems: one half for tuning the library, the other half for reporting results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
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
        quick: Number of problems in a quick race: the first ones. None for all.
    """

    name: str
    make: Callable[[], Iterable[Problem]] = field(repr=False)
    half: str | None = None
    quick: int | None = None

    @cache  # noqa: B019 - families live as long as the process
    def problems(self) -> list[Problem]:
        """The problems, loaded once in each process."""
        return list(self.make())

    def names(self) -> list[str]:
        """Names of the problems. Problems with the same name are numbered.

        >>> FAMILIES["fast curves"].names()[:2]
        ['fast curves 0', 'fast curves 1']
        """
        names = [problem.name for problem in self.problems()]
        seen = Counter(names)
        return [name if seen[name] == 1 else f"{name} {number}" for number, name in enumerate(names)]

    def half_of(self, number: int) -> str:
        """The half that a problem belongs to: "tuned" or "reported"."""
        return self.half or HALVES[number % 2]

    def numbers(self, half: str = "all", quick: bool = False) -> list[int]:
        """Numbers of the problems in a half; with `quick`, only of those in a quick race."""
        numbers = range(len(self.problems()))[: self.quick if quick else None]
        return [number for number in numbers if half in ("all", self.half_of(number))]

    def trouble(self) -> str | None:
        """Why its problems are not available, and what to do; None if they are."""
        try:
            self.problems()
        except (ManyarmsError, ImportError, OSError) as error:
            return str(error)
        return None


_QUICK_XGBOOST = (12, 29, 54, 1489, 1501, 40966)
_XGBOOST = (3, 16, 23, 44, 11, 60, 1049, 1053, 1475, 1486, 1494, 40498, 23512, 41138, 40701, 40982, 40984, 41143)
_QUICK_LCDB = (3, 393, 901, 1111)
_LCDB = (  # every third dataset of LCDB, without one on which most learners are equally good
    *(16, 26, 38, 60, 184, 299, 357, 446, 722, 737, 761, 807, 823, 847, 914, 958, 977, 995, 1021, 1050, 1083, 1128, 1146),
    *(1464, 1483, 1494, 1567, 4135, 23517, 40677, 40910, 40983, 41143, 41157, 41165, 41972),
)
_HARTMANN = ((3, "good"), (6, "good"), (6, "bad"), (3, "bad"))
_LANDSCAPES = 10  # of each kind of curves
_HARTMANN_LANDSCAPES = 4  # of each Hartmann function


def _lcbench() -> list[Problem]:
    """All 17 tasks: 9 for tuning, 8 for reporting."""
    tasks = list(problems.lcbench())
    quick = tasks[::3]
    return [*quick, *(task for task in tasks if task not in quick)]


def _hartmann() -> Iterator[Hartmann]:
    """Landscapes of each function. In every other landscape the halves are swapped, so that both get all functions."""
    for seed in range(_HARTMANN_LANDSCAPES):
        for dimensions, bias in _HARTMANN if seed % 2 == 0 else (*_HARTMANN[1:], _HARTMANN[0]):
            yield Hartmann(dimensions, bias, seed=seed)


def _curves(kind: str) -> Family:
    return Family(f"{kind} curves", lambda: [CurveWorld(kind, seed=seed) for seed in range(_LANDSCAPES)], quick=2)


FAMILIES: dict[str, Family] = {
    family.name: family
    for family in (
        Family("LCBench", _lcbench, quick=6),
        Family("TaskSet", problems.taskset),
        Family("LCDB", lambda: map(problems.lcdb, (*_QUICK_LCDB, *_LCDB)), quick=len(_QUICK_LCDB)),
        Family("NAS-Bench-201", lambda: map(problems.nasbench201, ("cifar10", "cifar100", "imagenet"))),
        Family("XGBoost", lambda: map(problems.rbv2_xgboost, (*_QUICK_XGBOOST, *_XGBOOST)), quick=len(_QUICK_XGBOOST)),
        Family("Hartmann", _hartmann, quick=len(_HARTMANN)),
        *map(_curves, ("fast", "slow", "crossing")),
        Family("digits MLP", lambda: [problems.digits_mlp()], half="tuned"),
        Family("boosting", lambda: [problems.boosted_trees()], half="reported"),
    )
}
"""The families of the standard race, by name."""
