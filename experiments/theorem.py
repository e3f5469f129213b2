"""Theorem 3.4 of the Mutant-UCB paper: the measured regret of ∞-UCB-E, compared with the bound and with 1 / (K + 1).

The arms are Bernoulli, with means uniform on [0, 1]. The regret is 1 minus the mean of the recommended arm.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import common
import numpy as np

import manyarms as ma
from manyarms.bench.problems import Reservoir
from manyarms.strategies.infinite_ucb_e import regret_bound

ALPHA = 0.19  # the library's default, just under the theorem's 1/5


@dataclass(frozen=True)
class Setting:
    """K and E. None means the value of the theory."""

    name: str
    initial: int | None
    exploration: float | None

    def strategy(self, budget: int, seed: int) -> ma.InfiniteUCBE:
        return ma.InfiniteUCBE(
            Reservoir().space, budget=budget, initial=self.initial, exploration=self.exploration, alpha=ALPHA, seed=seed
        )


SETTINGS = (
    Setting("theory's K, theory's E", None, None),
    Setting("K = 2, theory's E", 2, None),
    Setting("K = 6, theory's E", 6, None),
    Setting("K = 30, theory's E", 30, None),
    Setting("K = 2, E = 0.05", 2, 0.05),
    Setting("K = 6, E = 0.05", 6, 0.05),
    Setting("K = 30, E = 0.05", 30, 0.05),
    Setting("K = 1000, E = 0.05", 1000, 0.05),
)


def regret(job: tuple[Setting, int, int]) -> float:
    """1 minus the mean of the arm that is recommended at the end of one run."""
    setting, budget, seed = job
    strategy, rng = setting.strategy(budget, seed), np.random.default_rng([seed, budget])
    while (pull := strategy.ask()) is not None:
        strategy.tell(pull, float(rng.random() < pull.config["mean"]))
    return float(1.0 - strategy.best().config["mean"])


def main() -> None:
    arguments = common.options(__doc__).parse_args()
    budgets = (100, 1000) if arguments.quick else (100, 300, 1000, 3000, 10_000)
    seeds = range(arguments.seeds or (10 if arguments.quick else 100))
    cells = [(setting, budget) for setting in SETTINGS for budget in budgets if budget > (setting.initial or 0)]
    jobs = [(setting, budget, seed) for setting, budget in cells for seed in seeds]
    regrets = np.reshape(common.parallel(regret, jobs), (len(cells), len(seeds)))
    found = dict(zip(cells, regrets, strict=True))
    columns = ("setting", *(f"T = {budget:,}" for budget in budgets), "1 / (K + 1)", "bound")
    rows = [row(setting, budgets, found) for setting in dict.fromkeys(setting for setting, _ in cells)]
    note = f"1 / (K + 1) and the theorem's bound are those at T = {budgets[-1]:,}; a bound above 1 says nothing."
    common.show(f"Regret of InfiniteUCBE, uniform reservoir, {len(seeds)} seeds", columns, rows, note)
    if not arguments.quick:
        draw(cells, regrets)


def row(setting: Setting, budgets: Sequence[int], found: dict[tuple[Setting, int], np.ndarray]) -> tuple[str, ...]:
    """A line of the table."""
    measured = [common.plus_minus(found[setting, budget], 4) if (setting, budget) in found else "" for budget in budgets]
    arms = setting.strategy(budgets[-1], 0).initial
    bound = f"{regret_bound(budgets[-1], arms):,.3g}" if setting.exploration is None else "other E"
    return setting.name, *measured, f"{1 / (arms + 1):.4f}", bound


def draw(cells: list[tuple[Setting, int]], regrets: np.ndarray) -> None:
    figure, axes = common.panels(2)
    shown = dict(zip(("theory's K", "K = 2", "K = 6", "K = 30", "K = 1000"), common.COLORS, strict=False))
    for axis, theory in zip(axes, (True, False), strict=True):
        for setting in SETTINGS:
            if (setting.exploration is None) != theory:
                continue
            chosen = [index for index, cell in enumerate(cells) if cell[0] == setting]
            points = [common.mean_and_error(regrets[index]) for index in chosen]
            budgets = [cells[index][1] for index in chosen]
            label = setting.name.split(",")[0]
            axis.errorbar(budgets, *zip(*points, strict=True), marker="o", color=shown[label], label=label, capsize=2)
            if setting.initial:
                axis.axhline(1 / (setting.initial + 1), color=shown[label], linestyle=":", linewidth=1)
        axis.set(xscale="log", yscale="log", ylim=(5e-4, 1.2), xlabel="budget T (steps)", ylabel="regret (1 - mean of the arm)")
        axis.set_title("E of theorem 3.4" if theory else "E = 0.05")
    axes[0].set_ylim(top=2e3)
    budgets = np.geomspace(100, 10_000, 50).astype(int)
    axes[0].plot(budgets, [regret_bound(int(budget), 2) for budget in budgets], "k--", label="bound for K = 2")
    for axis in axes:
        axis.plot([], [], "k:", linewidth=1, label="1 / (K + 1)")
        axis.legend(fontsize=7, loc="lower left")
    common.save(figure, "theorem")


if __name__ == "__main__":
    main()
