"""The cost of a decision, compared with Optuna's TPE and SMAC3, around the 1,000th pull of a search in eight dimensions.

All methods search the same curves through the adapters of `manyarms race`: TPE with full trainings, SMAC3 with the rungs of
Hyperband, ours in slices. Deciding is the CPU time of this process between two pulls. Figures are medians over rounds, and
ratios are ratios of these medians. SMAC3 takes minutes to get to the 1,000th pull and runs once.
"""

from __future__ import annotations

from statistics import median
from typing import Any

from report import AtLeast, Row, parser, show

from manyarms.bench.problems import CurveWorld
from manyarms.bench.race.charged_problem import ChargedProblem, SearchEnded
from manyarms.bench.race.methods import methods

OURS, PEERS = "AdaptiveMutantUCB", ("Optuna TPE", "SMAC3")
PULLS, WINDOW = 1_000, 100


class UntilPull(ChargedProblem):
    """A charged problem that ends after a number of pulls and measures the time of the last decisions."""

    def __init__(self, pulls: int, seed: int) -> None:
        super().__init__(CurveWorld("fast", dimensions=8), [pulls], seed)
        self._times: list[float] = []
        self._last = pulls

    def train(self, config: Any, steps: int | None = None) -> float | None:
        reward = super().train(config, steps)
        self._times.append(self._deciding)
        if len(self._times) == self._last:
            raise SearchEnded("enough pulls")
        return reward

    def milliseconds(self) -> float:
        """Milliseconds per decision, over the last ones."""
        return 1e3 * (self._times[-1] - self._times[-1 - WINDOW]) / WINDOW


def cost(name: str, pulls: int, seed: int) -> float:
    method = methods()[name]
    method.load()
    charged = UntilPull(pulls, seed)
    try:
        method.search(charged)
    except SearchEnded:
        return charged.milliseconds()
    raise RuntimeError(f"{name} stopped before its {pulls}th pull")


def main() -> None:
    arguments = parser(__doc__).parse_args()
    pulls, rounds = (200, 1) if arguments.quick else (PULLS, 3)
    found: dict[str, list[float]] = {}
    for seed in range(rounds):
        for name in (OURS, *PEERS[: None if seed == 0 else 1]):
            found.setdefault(name, []).append(cost(name, pulls, seed))
    ours = median(found[OURS])
    rows = [
        Row(name, f"{ours:.3f} ms", f"{median(found[name]):.1f} ms", AtLeast(100, median(found[name]) / ours, "times cheaper"))
        for name in PEERS
    ]
    show(f"Deciding, the last {WINDOW} of {pulls:,} pulls", "peer", rows, rounds)


if __name__ == "__main__":
    main()
