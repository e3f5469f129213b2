"""How each strategy spends its steps: the plots of docs/strategies/, one for each page.

The left panel shows one search, pull by pull: the lower a pull, the better its arm; the darker, the longer the arm is
trained. The right panel compares the recommended arm with that of RandomSearch: the mean over seeds, each with its own
landscape, and its standard error.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from common import COLORS, mean_and_error, options, panels, parallel, plus_minus, save, show
from repeats import Repeats, reward

import manyarms as ma
from manyarms.bench.problems import CurveWorld, Problem, regret

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PLOTS = Path(__file__).parent.parent / "docs" / "strategies" / "plots"
BUDGET = 486  # 18 full trainings; six brackets of successive halving
MAX_STEPS = 27  # so that halving has four rungs: 1, 3, 9 and 27 steps
LEVELS = (1, 3, 9, 27)  # up to each, a shade for arms with so many steps, and one for more
RANDOM, OURS, BEST = "0.5", COLORS[0], COLORS[1]
_TOP = 200  # percent: the worst arms of these searches are just below

Regrets = np.ndarray[Any, np.dtype[np.float64]]


class Coins(Repeats):
    """Bernoulli arms with uniform means. Every step is a draw. Random search draws each arm nine times."""

    max_steps = 9


def slow(seed: int) -> Problem:
    return CurveWorld("slow", max_steps=MAX_STEPS, seed=100 + seed)


def fast(seed: int) -> Problem:
    return CurveWorld("fast", max_steps=MAX_STEPS, seed=100 + seed)


def crossing(seed: int) -> Problem:
    return CurveWorld("crossing", max_steps=9, seed=100 + seed)


def wide(seed: int) -> Problem:
    """Many parameters, and short trainings: three stages of 27 arms, and as many again."""
    return CurveWorld("fast", dimensions=10, max_steps=3, seed=100 + seed)


def coins(seed: int) -> Problem:
    return Coins(1, 1)


@dataclass(frozen=True)
class Portrait:
    """A strategy, its problem and its settings."""

    strategy: Callable[..., Any]
    problem: Callable[[int], Problem] = slow
    settings: dict[str, Any] = field(default_factory=dict)


PORTRAITS = {  # by plot
    "adaptive-mutant-ucb": Portrait(ma.AdaptiveMutantUCB),
    "mutant-ucb": Portrait(ma.MutantUCB, fast, {"exploration": 0.2}),
    "mutant-ucb-crowded": Portrait(ma.MutantUCB),
    "infinite-ucb-e": Portrait(ma.InfiniteUCBE, coins, {"initial": 50, "exploration": 0.05, "max_steps": None}),
    "d-ttts": Portrait(ma.DTTTS, coins, {"max_steps": None}),
    "successive-halving": Portrait(ma.SuccessiveHalving),
    "hyperband": Portrait(ma.Hyperband),
    "asha": Portrait(ma.ASHA),
    "steady-state-ea": Portrait(ma.SteadyStateEA, crossing),
    "harmonica": Portrait(ma.Harmonica, wide),
    "random-search": Portrait(ma.RandomSearch),
}


@dataclass(frozen=True)
class Search:
    """The course of one search."""

    pulls: list[tuple[int, int]]  # arm and steps, in order
    parents: list[tuple[int, ...]]  # by arm
    arms: list[float]  # by arm: its regret
    recommended: int  # the arm, at the end
    regrets: Regrets  # of the arm that would be recommended, by steps spent; NaN where there is none yet


def run(job: tuple[str, bool, int]) -> Search:
    """One search of a portrait, or of RandomSearch on the same problem."""
    name, at_random, seed = job
    portrait = PORTRAITS["random-search"] if at_random else PORTRAITS[name]
    problem = PORTRAITS[name].problem(seed)
    given = {"budget": BUDGET, "max_steps": problem.max_steps, "seed": seed} | portrait.settings
    strategy, pulls, spent = portrait.strategy(problem.space, **given), [], 0
    regrets = np.full(BUDGET + 1, np.nan)
    while (pull := strategy.ask()) is not None:
        strategy.tell(pull, reward(problem, pull, seed))
        pulls.append((pull.arm.id, pull.stop - pull.start))
        spent += pull.stop - pull.start
        regrets[spent:] = regret(problem, strategy.best().config)
    arms = strategy.ledger.arms
    parents, own = [arm.parents for arm in arms], [regret(problem, arm.config) for arm in arms]
    return Search(pulls, parents, own, strategy.best().id, regrets)


def draw_pulls(panel: Axes, search: Search) -> None:
    """A line for each pull, as long as its steps, and a thin one from each arm to those it came from."""
    from matplotlib import colormaps
    from matplotlib.collections import LineCollection

    pulls, ties, trained, spent = [], [], [], 0
    so_far = [0] * len(search.arms)
    for arm, steps in search.pulls:
        height = search.arms[arm]
        if not so_far[arm]:
            ties += [[(spent, height), (spent, search.arms[parent])] for parent in search.parents[arm]]
        pulls.append([(spent, height), (spent + steps, height)])
        spent += steps
        so_far[arm] += steps
        trained.append(so_far[arm])
    shades = np.searchsorted(LEVELS, trained)
    # Light to dark, so that it is read without colors too; the lightest is still seen on white.
    colors = colormaps["viridis_r"](np.linspace(0.12, 1.0, max(shades) + 1))
    panel.add_collection(LineCollection(ties, colors="0.7", linewidths=0.5, zorder=1))
    panel.add_collection(LineCollection(pulls, colors=colors[shades], linewidths=3, capstyle="round", zorder=2))
    panel.plot([], [], linestyle="", label="steps of the arm so far:")
    for shade in np.unique(shades):
        of_shade = np.array(trained)[shades == shade]
        label = "–".join(str(steps) for steps in sorted({of_shade.min(), of_shade.max()}))
        panel.plot([], [], color=colors[shade], linewidth=4, label=label)
    panel.plot([BUDGET * 1.02], [search.arms[search.recommended]], "<", color=BEST, ms=7, clip_on=False, label="recommended")


def draw_regrets(panel: Axes, searches: Sequence[Search], color: str, label: str) -> None:
    """The mean over the seeds, and a band of its standard error."""
    columns = np.array([search.regrets for search in searches]).T
    mean, error = np.array([mean_and_error(column) for column in columns]).T
    panel.plot(mean, color=color, label=label)
    panel.fill_between(np.arange(len(mean)), mean - error, mean + error, color=color, alpha=0.2, linewidth=0)


def draw(name: str, searches: Sequence[Search], at_random: Sequence[Search]) -> None:
    figure, (left, right) = panels(2, width=4.2, height=3.4, ratios=(3, 2))
    draw_pulls(left, searches[0])
    draw_regrets(right, at_random, RANDOM, "RandomSearch")
    if name != "random-search":
        draw_regrets(right, searches, OURS, PORTRAITS[name].strategy.__name__)
    for panel, title in ((left, "the pulls of one search"), (right, f"what it would recommend, mean of {len(searches)}")):
        panel.set(xlabel="steps spent", xlim=(0, BUDGET), ylim=(0, _TOP))
        panel.set_title(title, loc="left", fontsize="medium")
    left.set_ylabel("regret of the arm in %\n(100: the median random one)")
    right.legend(loc="upper right")
    handles = left.get_legend_handles_labels()[0]
    figure.legend(handles=handles, loc="outside lower left", ncols=len(handles), handlelength=1.2, columnspacing=1.4)
    save(figure, name, PLOTS)


def row(name: str, searches: Sequence[Search], at_random: Sequence[Search]) -> tuple[str, ...]:
    """Of the table: means over the seeds."""
    counts = np.mean([(len(search.arms), len(search.pulls)) for search in searches], axis=0)
    ends = ([search.regrets[-1] for search in these] for these in (searches, at_random))
    return name, *(f"{count:.0f}" for count in counts), *(plus_minus(regrets, 1) for regrets in ends)


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("names", nargs="*", metavar="name", help=f"names of plots (default: all): {', '.join(PORTRAITS)}")
    arguments = parser.parse_args()
    names = arguments.names or list(PORTRAITS)
    if unknown := set(names) - set(PORTRAITS):
        parser.error(f"there is no plot {', '.join(sorted(unknown))}; there are {', '.join(PORTRAITS)}")
    seeds = range(arguments.seeds or (3 if arguments.quick else 10))
    jobs = list(product(names, (False, True), seeds))
    found = dict(zip(jobs, parallel(run, jobs), strict=True))
    pairs = {name: tuple([found[name, other, seed] for seed in seeds] for other in (False, True)) for name in names}
    title = f"{BUDGET} steps, {len(seeds)} seeds"
    show(title, ("plot", "arms", "pulls", "regret in %", "of RandomSearch"), [row(name, *pairs[name]) for name in names])
    if not arguments.quick:
        for name in names:
            draw(name, *pairs[name])


if __name__ == "__main__":
    main()
