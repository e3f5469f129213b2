"""What a decision costs, strategy by strategy: one ask and one tell at so many arms.

In each round InfiniteUCBE, ASHA, MutantUCB and AdaptiveMutantUCB without its surrogate grow from nothing and are timed around
each size, as in decisions.py. InfiniteUCBE begins with as many arms as the size; its pulls are timed from the last tenth of
these on, half of them on new arms and half on known ones. DTTTS and AdaptiveMutantUCB with its surrogate take seconds to grow:
they do so once, and in each round the same ones play on. Rewards are noisy where the line does not say that they rise.

Decisions wait for nothing, so the clock is the processor time of this process. Figures are medians over rounds, and so are
ratios, which are taken within a round. A new arm is the costly part of a decision; in brackets is the share of pulls that made
one.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from statistics import mean, median
from typing import Any

from play import WINDOW, Cost, cost, cost_around, grow, play
from problem import MAX_STEPS, SPACE, mutant_ucb, noisy, rising
from report import AtMost, Row, parser, show

import manyarms as ma

SMALL, MIDDLE, LARGE = 1_000, 10_000, 100_000
ADAPTIVE, PLAIN = "AdaptiveMutantUCB", "AdaptiveMutantUCB without surrogate"
GROWING: dict[str, Callable[[int], Any]] = {
    "ASHA": lambda seed: ma.ASHA(SPACE, max_steps=MAX_STEPS, seed=seed),
    "MutantUCB": lambda seed: mutant_ucb(seed=seed),
    PLAIN: lambda seed: ma.AdaptiveMutantUCB(SPACE, max_steps=MAX_STEPS, surrogate=False, seed=seed),
}
SLOW: dict[str, Callable[[], Any]] = {
    ADAPTIVE: lambda: ma.AdaptiveMutantUCB(SPACE, max_steps=MAX_STEPS, seed=0),
    "DTTTS": lambda: ma.DTTTS(SPACE, max_steps=MAX_STEPS, seed=0),
}
PULLS = 500  # of each slow one in a round

Costs = dict[tuple[Any, ...], Cost]  # of one round, by strategy and by size or what else tells them apart


def infinite_ucbe(size: int, seed: int) -> Cost:
    """Around its last initial arm, with the exploration that its documentation suggests: the theory's trains one arm alone."""
    strategy = ma.InfiniteUCBE(SPACE, max_steps=MAX_STEPS, initial=size, exploration=0.05, seed=seed)
    grow(strategy, size * (1 - WINDOW), noisy)
    return cost(strategy, lambda: play(strategy, int(2 * WINDOW * size), noisy))


def fast_costs(seed: int) -> Costs:
    """One round of the strategies that grow in seconds."""
    costs: Costs = {("InfiniteUCBE", size): infinite_ucbe(size, seed) for size in (SMALL, LARGE)}
    for name, make in GROWING.items():
        strategy = make(seed)
        costs |= {(name, size): cost_around(strategy, size, noisy) for size in (SMALL, MIDDLE, LARGE)}
    for name in ("MutantUCB", PLAIN):
        costs[name, "rising"] = cost_around(GROWING[name](seed), MIDDLE, rising)
    return costs


def slow_costs(strategies: dict[str, Any]) -> Costs:
    """One round of the others, over all pulls and over those that made an arm."""
    costs: Costs = {}
    for name, strategy in strategies.items():
        pulls = [cost(strategy, partial(play, strategy, 1, noisy)) for _ in range(PULLS)]
        costs[name, "all"] = _mean(pulls)
        costs[name, "new"] = _mean([pull for pull in pulls if pull.newcomers])
    return costs


def _mean(costs: list[Cost]) -> Cost:
    return Cost(mean(cost.microseconds for cost in costs), mean(cost.newcomers for cost in costs))


def rows(rounds: list[Costs]) -> list[Row]:
    """The lines of all strategies."""

    def typical(*key: Any) -> float:
        return median(costs[key].microseconds for costs in rounds)

    def ratio(above: tuple[Any, ...], below: tuple[Any, ...]) -> AtMost:
        bound = 2 if above[0] == below[0] else 3
        return AtMost(bound, median(costs[above].microseconds / costs[below].microseconds for costs in rounds), "times")

    def text(*key: Any) -> str:
        return f"{_time(typical(*key))} ({100 * median(costs[key].newcomers for costs in rounds):.0f}%)"

    lines = []
    for name in ("InfiniteUCBE", "MutantUCB", "ASHA"):
        both = f"{typical(name, LARGE):.1f} / {typical(name, SMALL):.1f} µs"
        lines += [
            Row(name),
            Row(f"  {SMALL:,} arms", text(name, SMALL)),
            Row(f"  {LARGE:,} arms", text(name, LARGE), target=AtMost(30, typical(name, LARGE), "µs")),
            Row(f"  {LARGE:,} / {SMALL:,} arms", both, target=ratio((name, LARGE), (name, SMALL))),
        ]
    lines.append(Row(PLAIN))
    for label, key in {f"{MIDDLE:,} arms, rising": "rising", f"{MIDDLE:,} arms": MIDDLE, f"{LARGE:,} arms": LARGE}.items():
        target = ratio((PLAIN, key), ("MutantUCB", key))
        lines.append(Row(f"  {label}", text(PLAIN, key), text("MutantUCB", key), target))
    for name, bound in ((ADAPTIVE, 1), ("DTTTS", 2)):
        lines.append(Row(f"{name}, {MIDDLE:,} arms"))
        for label, key in {"all pulls": "all", "pulls that made an arm": "new"}.items():
            lines.append(Row(f"  {label}", text(name, key), target=AtMost(bound, typical(name, key) / 1e3, "ms")))
    return lines


def _time(microseconds: float) -> str:
    return f"{microseconds:.1f} µs" if microseconds < 500 else f"{microseconds / 1e3:.2f} ms"


def main() -> None:
    arguments = parser(__doc__)
    arguments.add_argument("--rounds", type=int, help="how often each is measured (default 3; 1 with --quick)")
    options = arguments.parse_args()
    rounds = options.rounds or (1 if options.quick else 3)
    slow = {name: make() for name, make in SLOW.items()}
    for strategy in slow.values():
        grow(strategy, MIDDLE, noisy)
    measured = [fast_costs(seed) | slow_costs(slow) for seed in range(rounds)]
    show("One ask and tell, by strategy", "MutantUCB", rows(measured), rounds, "In brackets: pulls that made a new arm.")


if __name__ == "__main__":
    main()
