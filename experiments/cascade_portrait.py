"""How a Cascade shares its pulls among the algorithms, by picker: the plot of docs/strategies/cascade.md.

There are three algorithms, whose random configs have rewards with different means and variances: "steady" has the best mean,
"wide" the best configs, and "poor" neither. The left panel shows a search with ERUCB, the right panel one with UCB1.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from common import COLORS, panels, save

import manyarms as ma

PLOTS = Path(__file__).parent.parent / "docs" / "strategies" / "plots"
BUDGET = 600
LAWS = {"wide": (0.70, 0.10), "steady": (0.78, 0.02), "poor": (0.60, 0.03)}  # mean and standard deviation


class Normal:
    """Configs that are their own rewards."""

    def __init__(self, mean: float, deviation: float) -> None:
        self._law = mean, deviation

    def sample(self, rng: np.random.Generator) -> dict[str, float]:
        """A reward from the law."""
        return {"reward": float(np.clip(rng.normal(*self._law), 0, 1))}

    def mutate(self, config: Any, rng: np.random.Generator) -> dict[str, float]:
        """Another: nothing is near."""
        return self.sample(rng)


def searched(picker: Any) -> tuple[np.ndarray[Any, np.dtype[np.float64]], list[float]]:
    """Of one search, after each pull: how many each algorithm has had, and the best reward so far."""
    search = ma.Cascade({name: ma.RandomSearch(Normal(*law)) for name, law in LAWS.items()}, picker, budget=BUDGET, seed=0)
    counts, best = np.zeros((BUDGET + 1, len(LAWS))), [0.0]
    names = list(LAWS)
    for number in range(1, BUDGET + 1):
        pull = search.ask()
        assert pull is not None
        reward = pull.config["config"]["reward"]
        search.tell(pull, reward)
        counts[number] = counts[number - 1]
        counts[number, names.index(pull.config["algorithm"])] += 1
        best.append(max(best[-1], reward))
    return counts, best


def main() -> None:
    figure, axes = panels(2, width=4.2, height=3.2)
    for panel, picker in zip(axes, (ma.ERUCB(), ma.UCB1()), strict=True):
        counts, best = searched(picker)
        labels = [f"{name}: {mean:.2f} ± {spread:.2f}" for name, (mean, spread) in LAWS.items()]
        panel.stackplot(range(BUDGET + 1), counts.T, labels=labels, colors=COLORS, alpha=0.75)
        panel.set_title(f"{type(picker).__name__}: best reward {best[-1]:.3f}", loc="left", fontsize="medium")
        panel.set(xlabel="pulls", ylabel="pulls of each algorithm", xlim=(0, BUDGET), ylim=(0, BUDGET))
    axes[0].legend(loc="upper left", title="rewards of random configs")
    save(figure, "cascade", PLOTS)


if __name__ == "__main__":
    main()
