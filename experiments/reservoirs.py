"""D-TTTS on reservoirs from easy to hard: how many arms it samples, and how good the recommended one is.

Rewards are Bernoulli. The regret is the best possible mean minus that of the recommended arm. DTTTS and InfiniteUCBE get one
draw per pull. Hyperband (1 to 27 steps, eta 3) and RandomSearch (10 steps per arm) get the mean of all draws of the arm so
far.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

import common
import numpy as np
from repeats import search

import manyarms as ma
from manyarms.bench.problems import Reservoir

RESERVOIRS = (
    Reservoir(1, 1),
    Reservoir(1, 3),
    Reservoir(1, 10),
    Reservoir(1, 1, high=0.9),
    Reservoir(1, 1, high=0.7),
    Reservoir(1, 1, low=0.3),
)
EXPECTED = {
    "Beta(1, 1)": "500",
    "Beta(1, 3)": "700",
    "Beta(1, 10)": "840",
}  # arms at T = 1000, of a reference run; the poster prints none
STRATEGIES: dict[str, Callable[..., ma.Strategy]] = {
    "DTTTS": ma.DTTTS,
    "DTTTS, most pulled": functools.partial(ma.DTTTS, recommend="most_pulled"),
    "Hyperband": functools.partial(ma.Hyperband, max_steps=27),
    "InfiniteUCBE, theory": ma.InfiniteUCBE,
    "InfiniteUCBE, 100 arms": functools.partial(ma.InfiniteUCBE, initial=100, exploration=0.05),
    "RandomSearch": functools.partial(ma.RandomSearch, max_steps=10),
}


def run(job: tuple[int, str, int, int]) -> tuple[float, int]:
    """The regret of one search, and the arms it sampled."""
    number, name, budget, seed = job
    problem = RESERVOIRS[number]
    strategy = STRATEGIES[name](problem.space, budget=budget, seed=seed)
    config = search(strategy, lambda config, seed: problem.reward(config, 1, seed), seed)
    return problem.best - problem.value(config), len(strategy.ledger.arms)


def main() -> None:
    arguments = common.options(__doc__).parse_args()
    budget = 200 if arguments.quick else 1000
    seeds = range(arguments.seeds or (5 if arguments.quick else 100))
    jobs = [(number, name, budget, seed) for number in range(len(RESERVOIRS)) for name in STRATEGIES for seed in seeds]
    shape = len(RESERVOIRS), len(STRATEGIES), len(seeds), 2
    regrets, arms = np.moveaxis(np.reshape(common.parallel(run, jobs), shape), -1, 0)
    scale = f"T = {budget:,}, {len(seeds)} seeds"
    rows = [
        (problem.name, common.plus_minus(arms[number, 0], 0), "" if arguments.quick else EXPECTED.get(problem.name, ""))
        for number, problem in enumerate(RESERVOIRS)
    ]
    common.show(f"Arms sampled by DTTTS; {scale}", ("reservoir", "arms", "expected, about"), rows)
    rows = [
        (problem.name, *(common.plus_minus(values) for values in of_problem))
        for problem, of_problem in zip(RESERVOIRS, regrets, strict=True)
    ]
    common.show(f"Simple regret; {scale}", ("reservoir", *STRATEGIES), rows)
    if not arguments.quick:
        draw(regrets, arms[:, 0], budget)


def draw(regrets: np.ndarray, arms: np.ndarray, budget: int) -> None:
    figure, (left, right) = common.panels(2, width=4.6)
    places = np.arange(len(RESERVOIRS))
    names = [problem.name.replace(" on ", "\non ") for problem in RESERVOIRS]
    means, errors = zip(*(common.mean_and_error(values) for values in arms), strict=True)
    left.bar(places, means, yerr=errors, color=common.COLORS[0], capsize=2, label="measured")
    known = [(place, float(EXPECTED[name])) for place, name in enumerate(names) if name in EXPECTED]
    left.plot(*zip(*known, strict=True), "k_", markersize=22, label="expected, about")
    left.set(ylabel=f"arms sampled by DTTTS, of {budget:,} pulls", ylim=(0, budget))
    for number, (name, color, marker) in enumerate(zip(STRATEGIES, common.COLORS, common.MARKERS, strict=False)):
        means, errors = zip(*(common.mean_and_error(values) for values in regrets[:, number]), strict=True)
        shift = 0.1 * (number - (len(STRATEGIES) - 1) / 2)
        right.errorbar(places + shift, means, errors, color=color, marker=marker, linestyle="", label=name, capsize=2)
    right.set(ylabel="simple regret (best mean - mean of the arm)", ylim=(0, None))
    for axis in (left, right):
        axis.set_xticks(places, names, fontsize=7)
        axis.set_xlabel("law of the means of arms")
        axis.legend(fontsize=7, loc="upper right")
    common.save(figure, "reservoirs")


if __name__ == "__main__":
    main()
