"""Compares AdaptiveMutantUCB with every other strategy on every problem of the library, after 5 to 100 full trainings.

The regret is normalized, in percent: 0 is the best config, 100 the median random config. A strategy that does not need the
budget runs once and is measured on the way. A strategy whose settings depend on the budget (MutantUCB, InfiniteUCBE,
SteadyStateEA) runs once for each budget. The published tables must be in the data directory (MANYARMS_DATA, or the user's data
directory).
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from common import COLORS, MARKERS, mean_and_error, options, panels, parallel, plus_minus, save, show
from repeats import Repeats, reward

import manyarms as ma
from manyarms.bench.problems import CurveWorld, Problem, lcbench, lcdb, nasbench201, regret, taskset

MARKS = (5, 10, 20, 50, 100)  # full trainings
OURS, PLAIN = "AdaptiveMutantUCB", "MutantUCB"
_LARGEST_REGRET = 300.0  # percent; so that a single diverged config does not outweigh all others

Regrets = np.ndarray[Any, np.dtype[np.float64]]

FAMILIES: dict[str, Callable[[], Iterable[Any]]] = {
    "LCBench": lcbench,
    "TaskSet": taskset,
    "LCDB": lambda: [lcdb(dataset) for dataset in (3, 393, 901, 1111, 1464, 40983)],
    "NAS-Bench-201": lambda: [nasbench201(name) for name in ("cifar10", "cifar100", "imagenet")],
    "fast curves": lambda: [CurveWorld("fast", seed=landscape) for landscape in range(3)],
    "slow curves": lambda: [CurveWorld("slow", seed=landscape) for landscape in range(3)],
    "crossing curves": lambda: [CurveWorld("crossing", seed=landscape) for landscape in range(3)],
    "reservoirs": lambda: [Repeats(1, b, noise=0.1) for b in (1, 3, 10)],
    "coins": lambda: [Repeats(1, b) for b in (1, 3, 10)],
}


def infinite_ucb_e(space: Any, budget: int, **settings: Any) -> ma.InfiniteUCBE:
    """With more arms than in theory, where there are too few to choose from."""
    return ma.InfiniteUCBE(space, budget=budget, initial=budget // 10, exploration=0.05, **settings)


def steady_state_ea(space: Any, **settings: Any) -> ma.SteadyStateEA:
    """Without crossover, which reservoirs do not have."""
    return ma.SteadyStateEA(space, mutation_only=not hasattr(space, "crossover"), **settings)


ANYTIME: dict[str, Callable[..., Any]] = {
    OURS: ma.AdaptiveMutantUCB,
    "RandomSearch": ma.RandomSearch,
    "Hyperband": ma.Hyperband,
    "SuccessiveHalving": ma.SuccessiveHalving,
    "ASHA": ma.ASHA,
    "DTTTS": ma.DTTTS,
}
FIXED: dict[str, Callable[..., Any]] = {
    PLAIN: ma.MutantUCB,  # its default K is T / 20
    "SteadyStateEA": steady_state_ea,
    "InfiniteUCBE": infinite_ucb_e,
}
STRATEGIES = (OURS, PLAIN, *(name for name in (*ANYTIME, *FIXED) if name not in (OURS, PLAIN)))


@functools.cache
def problems(family: str) -> list[Problem]:
    """The problem, loaded once in each process."""
    return list(FAMILIES[family]())


def recommended(problem: Problem, strategy: Any) -> float:
    """The regret of the current recommendation; that of the median random config before any success."""
    try:
        return min(regret(problem, strategy.best().config), _LARGEST_REGRET)
    except ma.NoResult:
        return 100.0


def play(strategy: Any, problem: Problem, seed: int, marks: Sequence[int]) -> list[float]:
    """The regrets after these numbers of full trainings. A pull that would end later does not count."""
    regrets: list[float] = []
    spent = 0
    while (pull := strategy.ask()) is not None:
        spent += pull.stop - pull.start
        while len(regrets) < len(marks) and spent > marks[len(regrets)] * problem.max_steps:
            regrets.append(recommended(problem, strategy))
        strategy.tell(pull, reward(problem, pull, seed))
    assert spent <= marks[-1] * problem.max_steps, f"{strategy} spent {spent} steps"
    return regrets + [recommended(problem, strategy)] * (len(marks) - len(regrets))


def run(job: tuple[str, str, int, int, tuple[int, ...]]) -> list[float]:
    """The regret for each budget, of one strategy on one problem with one seed."""
    name, family, number, seed, marks = job
    problem = problems(family)[number]
    keywords = {"max_steps": problem.max_steps, "seed": seed}
    if name in ANYTIME:
        return play(ANYTIME[name](problem.space, budget=marks[-1] * problem.max_steps, **keywords), problem, seed, marks)
    budgets = [(mark, FIXED[name](problem.space, budget=mark * problem.max_steps, **keywords)) for mark in marks]
    return [play(strategy, problem, seed, [mark])[0] for mark, strategy in budgets]


def race(families: Sequence[str], seeds: int, marks: tuple[int, ...]) -> dict[tuple[str, str], Regrets]:
    """Regrets by seed and budget, for each family and strategy. Each is the mean over the problems of the family."""
    jobs = [
        (name, family, number, seed, marks)
        for family in families
        for number, seed, name in itertools.product(range(len(problems(family))), range(seeds), STRATEGIES)
    ]
    found: dict[tuple[str, str], list[list[list[float]]]] = {}
    for (name, family, _, seed, _), regrets in zip(jobs, parallel(run, jobs), strict=True):
        found.setdefault((family, name), [[] for _ in range(seeds)])[seed].append(regrets)
    return {key: np.mean(np.array(by_seed), axis=1) for key, by_seed in found.items()}


def worse(ours: Regrets, other: Regrets) -> bool:
    """Whether our regret is larger by more than one standard error of the difference, seed by seed."""
    difference, error = mean_and_error(ours - other)
    return difference > (0.0 if np.isnan(error) else error) + 1e-9


def verdicts(found: dict[tuple[str, str], Regrets], families: Sequence[str], marks: Sequence[int]) -> None:
    """Print where ours loses to plain Mutant-UCB, and where it is not the best."""
    rows = []
    for family in families:
        ours = found[family, OURS]
        cells = []
        for place in range(len(marks)):
            rival = min(STRATEGIES[1:], key=lambda name: found[family, name][:, place].mean())
            beaten = worse(ours[:, place], found[family, rival][:, place])
            leads = worse(found[family, rival][:, place], ours[:, place])
            plain = "worse than plain; " if worse(ours[:, place], found[family, PLAIN][:, place]) else ""
            cells.append(plain + (rival if beaten else "best" if leads else "tied"))
        rows.append((family, *cells))
    show(
        f"Is {OURS} the best? (the winner where not)",
        ("full trainings", *map(str, marks)),
        rows,
        note="best, tied, worse: by more than one standard error of the difference to the best rival, or to plain MutantUCB",
    )


def draw(found: dict[tuple[str, str], Regrets], families: Sequence[str], marks: Sequence[int]) -> None:
    """Draw a panel for each family, in two rows."""
    columns = math.ceil(len(families) / 2)
    figure, _ = panels(columns, width=2.8, height=5.8)
    figure.clear()
    axes = list(figure.subplots(min(2, len(families)), columns, squeeze=False).flat)
    for panel in axes[len(families) :]:
        panel.remove()
    for panel, family in zip(axes, families, strict=False):
        for number, name in enumerate(STRATEGIES):
            regrets = found[family, name]
            style = {"color": COLORS[number % len(COLORS)], "marker": MARKERS[number % len(MARKERS)]}
            means, errors = zip(*(mean_and_error(column) for column in regrets.T), strict=True)
            style |= {"linewidth": 2.5, "zorder": 3} if name == OURS else {"linewidth": 1.0}
            style |= {"linestyle": "--"} if number >= len(COLORS) else {}
            panel.errorbar(marks, means, yerr=errors, label=name, capsize=2, **style)
        panel.set(title=family, xscale="log", xlabel="full trainings", ylabel="regret in %")
        panel.set_xticks(marks, [str(mark) for mark in marks])
        panel.minorticks_off()
        panel.set_ylim(bottom=min(0.0, panel.get_ylim()[0]))
    handles, labels = axes[len(families) - 1].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=5)
    save(figure, "anytime")


def report(found: dict[tuple[str, str], Regrets], families: Sequence[str], marks: Sequence[int]) -> None:
    """Print a table for each family, and whether ours is best."""
    for family in families:
        rows = []
        for name in STRATEGIES:
            cells = [plus_minus(column, 1) for column in found[family, name].T]
            rows.append((name, *cells))
        title = f"{family}: regret in %, {len(problems(family))} problems, {len(found[family, OURS])} seeds"
        show(title, ("full trainings", *map(str, marks)), rows)
    verdicts(found, families, marks)


def main() -> None:
    """Search, report and draw."""
    parser = options(__doc__)
    parser.add_argument("--families", nargs="+", choices=FAMILIES, default=list(FAMILIES), metavar="family", help="only these")
    arguments = parser.parse_args()
    marks = MARKS[:3] if arguments.quick else MARKS
    found = race(arguments.families, arguments.seeds or (2 if arguments.quick else 5), marks)
    report(found, arguments.families, marks)
    if not arguments.quick:
        draw(found, arguments.families, marks)


if __name__ == "__main__":
    main()
