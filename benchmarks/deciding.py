"""What a decision costs beside Optuna's TPE and SMAC3, around the 1,000th pull of a search in eight dimensions.

All search the same curves through the adapters of `manyarms race`: TPE by full trainings, SMAC3 by Hyperband's rungs, ours by
slices. Deciding is what happens between two pulls; the clock is the processor time of this process. Figures are medians over
rounds; ratios are of these medians. SMAC3 takes minutes to get there and runs once.
"""

from __future__ import annotations

from statistics import median
from typing import Any

from report import AtLeast, Row, parser, show

from manyarms.bench.problems import CurveWorld
from manyarms.bench.race.entrants import entrants
from manyarms.bench.race.track import Finished, Track

OURS, PEERS = "AdaptiveMutantUCB", ("Optuna TPE", "SMAC3")
PULLS, WINDOW = 1_000, 100


class UntilPull(Track):
    """A track that ends after so many pulls, and tells how long the last of them took to decide."""

    def __init__(self, pulls: int, seed: int) -> None:
        super().__init__(CurveWorld("fast", dimensions=8), [pulls], seed)
        self._times: list[float] = []
        self._last = pulls

    def train(self, config: Any, steps: int | None = None) -> float | None:
        reward = super().train(config, steps)
        self._times.append(self._deciding)
        if len(self._times) == self._last:
            raise Finished("these are enough")
        return reward

    def milliseconds(self) -> float:
        """Of one decision, over the last of them."""
        return 1e3 * (self._times[-1] - self._times[-1 - WINDOW]) / WINDOW


def cost(name: str, pulls: int, seed: int) -> float:
    entrant = entrants()[name]
    entrant.load()
    track = UntilPull(pulls, seed)
    try:
        entrant.search(track)
    except Finished:
        return track.milliseconds()
    raise RuntimeError(f"{name} gave up before its {pulls}th pull")


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
