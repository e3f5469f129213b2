"""TreeUCB and PartitionUCB on Lipschitz functions of 1, 2 and 4 parameters, and how the regret of PartitionUCB grows.

Functions on the unit cube are 1 at their best point, with a Lipschitz constant of 1 in the maximum norm: one `cone`, the
highest of five `hills`, or the mean of a `roof` in each coordinate. Every seed has other peaks. The noise of rewards is
Gaussian with standard deviation 0.1. The first table shows the regret, 1 minus the function, after T pulls: the mean over all
points played, that of the recommended point, and that of the best point played. "TreeUCB, refit" grows a new tree whenever
the number of rewards has doubled (refit="doubling"). Both have min_leaf=3.

The second table compares the slope of ln(cumulative regret) over ln(T) with (d+1)/(d+2) of the theory, and with the slope of
T^((d+1)/(d+2)) sqrt(ln T), because the theory omits logarithms. beta_t is that of the theory (factor 1) or the default
(factor 0.1). Boxes are halved each time T has grown by 2^(d+2), and the regret grows in waves of this length. So slopes are
fitted to whole waves, over a factor of at least 16.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from typing import Any

import common
import numpy as np

import manyarms as ma

KINDS = ("cone", "hills", "roof")
DIMENSIONS = (1, 2, 4)
NOISE = 0.1
STRATEGIES: dict[str, Callable[..., Any]] = {
    "TreeUCB": functools.partial(ma.TreeUCB, min_leaf=3),
    "TreeUCB, refit": functools.partial(ma.TreeUCB, min_leaf=3, refit="doubling"),
    "PartitionUCB": ma.PartitionUCB,
    "RandomSearch": ma.RandomSearch,
}
FACTORS = (1.0, 0.1)
WINDOWS = {1: 64, 2: 16, 4: 64}  # the last T over the first that slopes are fitted to: whole waves


class Function:
    """A Lipschitz function, with constant 1 in the maximum norm; its largest value is 1."""

    def __init__(self, kind: str, dimension: int, seed: int) -> None:
        self.space = ma.Space(**{f"x{i}": ma.Float(0, 1) for i in range(dimension)})
        rng = np.random.default_rng([seed, dimension, KINDS.index(kind)])
        self._norm = np.mean if kind == "roof" else np.max
        self._peaks = rng.random((5 if kind == "hills" else 1, dimension))
        self._heights = np.append(1.0, 0.6 + 0.3 * rng.random(len(self._peaks) - 1))

    def value(self, config: dict[str, float]) -> float:
        distances = self._norm(np.abs(self._peaks - list(config.values())), axis=1)
        return float(np.max(self._heights - distances))


def play(strategy: Any, function: Function, seed: int) -> tuple[np.ndarray, float]:
    """The regret of each point played, and of the recommended one."""
    noise, regrets = np.random.default_rng([seed, 1]), []
    while (pull := strategy.ask()) is not None:
        value = function.value(pull.config)
        regrets.append(1.0 - value)
        strategy.tell(pull, value + NOISE * noise.standard_normal())
    return np.array(regrets), 1.0 - function.value(strategy.best().config)


def compare(job: tuple[str, str, int, int, int]) -> tuple[float, float, float]:
    """Of one search: the mean regret, that of the recommended point, and that of the best point played."""
    name, kind, dimension, budget, seed = job
    function = Function(kind, dimension, seed)
    regrets, recommended = play(STRATEGIES[name](function.space, budget=budget, seed=seed), function, seed)
    return float(regrets.mean()), recommended, float(regrets.min())


def growth(job: tuple[float, str, int, int, int]) -> np.ndarray:
    """The cumulative regret of PartitionUCB after each pull."""
    factor, kind, dimension, budget, seed = job
    function = Function(kind, dimension, seed)
    strategy = ma.PartitionUCB(function.space, budget=budget, s=NOISE, factor=factor, seed=seed)
    return play(strategy, function, seed)[0].cumsum()


def slope(pulls: np.ndarray, regrets: np.ndarray) -> float:
    """Of ln(regret) over ln(pulls), by least squares."""
    return float(np.polyfit(np.log(pulls), np.log(regrets), 1)[0])


def main() -> None:
    parser = common.options(__doc__)
    parser.add_argument("--pulls", type=int, default=1000, metavar="T", help="pulls per search (default: 1000)")
    parser.add_argument(
        "--long", type=int, default=32_768, metavar="T", help="pulls for the growth of the regret (default: 32,768)"
    )
    arguments = parser.parse_args()
    pulls, long = (300, 2000) if arguments.quick else (arguments.pulls, arguments.long)
    seeds = range(arguments.seeds or (2 if arguments.quick else 20))
    found = compared(pulls, seeds)
    curves = grown(long, seeds[: max(2, len(seeds) // 4)])
    if not arguments.quick:
        draw(found, pulls, curves, long)


def compared(pulls: int, seeds: range) -> dict[tuple[int, str], np.ndarray]:
    """By dimension and strategy: the three regrets of each function and seed; printed."""
    cells = list(itertools.product(DIMENSIONS, STRATEGIES))
    jobs = [(name, kind, dimension, pulls, seed) for dimension, name in cells for kind in KINDS for seed in seeds]
    results = np.reshape(common.parallel(compare, jobs), (len(cells), -1, 3))
    found = dict(zip(cells, results, strict=True))
    rows = [(f"d = {d}", name, *(common.plus_minus(column, 4) for column in found[d, name].T)) for d, name in cells]
    title = f"Regret after T = {pulls:,} pulls; {len(KINDS)} functions, {len(seeds)} seeds of each, noise {NOISE}"
    common.show(title, ("", "strategy", "mean of all pulls", "recommended point", "best point played"), rows)
    return found


def grown(pulls: int, seeds: range) -> dict[tuple[int, float], np.ndarray]:
    """By dimension and factor: the mean cumulative regret, over functions and seeds, after each pull; slopes are printed."""
    cells = list(itertools.product(DIMENSIONS, FACTORS))
    jobs = [(factor, kind, dimension, pulls, seed) for dimension, factor in cells for kind in KINDS for seed in seeds]
    results = np.reshape(common.parallel(growth, jobs), (len(cells), -1, pulls))
    rows = []
    for d in DIMENSIONS:
        at = np.unique(np.geomspace(pulls // WINDOWS[d], pulls, 30).astype(int))
        order = (d + 1) / (d + 2)
        slopes = [[slope(at, run[at - 1]) for run in results[cells.index((d, factor))]] for factor in FACTORS]
        bounds = f"{order:.3f}", f"{slope(at, at**order * np.sqrt(np.log(at))):.3f}"
        rows.append((f"d = {d}", f"{at[0]:,}", *bounds, *(common.plus_minus(of_factor) for of_factor in slopes)))
    title = f"PartitionUCB: slope of ln(cumulative regret) over ln(T) up to T = {pulls:,}; {len(seeds)} seeds of each function"
    columns = ("", "from T =", "theory", "theory, sqrt(ln T)", *(f"factor {factor:g}" for factor in FACTORS))
    common.show(title, columns, rows)
    return dict(zip(cells, results.mean(axis=1), strict=True))


def draw(found: dict[tuple[int, str], np.ndarray], pulls: int, curves: dict[tuple[int, float], np.ndarray], long: int) -> None:
    figure, axes = common.panels(3, width=3.9)
    places = np.arange(len(DIMENSIONS))
    for number, (name, color, marker) in enumerate(zip(STRATEGIES, common.COLORS, common.MARKERS, strict=False)):
        for axis, measure in zip(axes[:2], (0, 1), strict=True):
            points = [common.mean_and_error(found[d, name][:, measure]) for d in DIMENSIONS]
            means, errors = zip(*points, strict=True)
            axis.errorbar(
                places + 0.12 * (number - 1.5), means, errors, color=color, marker=marker, linestyle="", label=name, capsize=2
            )
    for axis, what in zip(axes[:2], ("all points played", "the recommended point"), strict=True):
        axis.set(title=f"mean regret of {what}", xlabel=f"parameters, T = {pulls:,}", ylabel="regret", ylim=(0, None))
        axis.set_xticks(places, map(str, DIMENSIONS))
    axes[0].legend(fontsize=7)
    at = np.unique(np.geomspace(10, long, 60).astype(int))
    for d, color in zip(DIMENSIONS, common.COLORS, strict=False):
        for factor, style in zip(FACTORS, ("--", "-"), strict=True):
            axes[2].plot(at, curves[d, factor][at - 1], color=color, linestyle=style, label=f"d = {d}, factor {factor:g}")
        theory = curves[d, FACTORS[0]][long - 1] * (at / long) ** ((d + 1) / (d + 2))
        axes[2].plot(at, theory, color=color, linestyle=":", linewidth=1)
    axes[2].set(title="PartitionUCB: dotted, the theory's slope", xlabel="pulls T", ylabel="cumulative regret")
    axes[2].set(xscale="log", yscale="log")
    axes[2].legend(fontsize=7)
    common.save(figure, "lipschitz")


if __name__ == "__main__":
    main()
