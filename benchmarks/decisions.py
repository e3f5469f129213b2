"""What a decision costs: one ask and one tell, as the number of arms grows.

Each round grows a MutantUCB from nothing to the largest size and times the pulls around each size, so that the upkeep of its
ranking and the garbage collector are paid for in the figures. In between, Optuna's in-memory random sampler is timed around
1,000 trials. Decisions wait for nothing, so the clock is the processor time of this process. Figures are medians over rounds.
"""

from __future__ import annotations

import time
from statistics import median

from play import WINDOW, Reward, cost_around
from problem import DISTRIBUTIONS, REWARDS, mutant_ucb, noisy, random_study
from report import AtLeast, AtMost, Row, parser, show

SIZES = (1_000, 10_000, 100_000)
TRIALS = 1_000

Costs = dict[int, float]  # microseconds by size


def our_costs(reward: Reward, seed: int) -> Costs:
    """The cost of an ask and tell around each size."""
    strategy = mutant_ucb(seed=seed)
    return {size: cost_around(strategy, size, reward).microseconds for size in SIZES}


def peer_cost() -> float:
    """Microseconds of Optuna's ask and tell around its size."""
    study = random_study()
    first, end = int(TRIALS * (1 - WINDOW)), int(TRIALS * (1 + WINDOW))
    for number in range(end):
        if number == first:
            began = time.process_time()
        trial = study.ask(DISTRIBUTIONS)
        study.tell(trial, noisy(trial.params))
    return 1e6 * (time.process_time() - began) / (end - first)


def rows(name: str, ours: list[Costs], peers: list[float]) -> list[Row]:
    """The lines of one kind of reward. Ratios are taken within a round, then their median."""
    small, large = SIZES[0], SIZES[-1]
    costs = {size: median(cost[size] for cost in ours) for size in SIZES}
    cheaper = median(peer / cost[large] for cost, peer in zip(ours, peers, strict=True))
    growth = median(cost[large] / cost[small] for cost in ours)
    targets = {large: AtLeast(10, cheaper, "times cheaper")}
    lines = [Row(f"  {size:,} arms", f"{costs[size]:.1f} µs", f"{median(peers):.0f} µs", targets.get(size)) for size in SIZES]
    both = f"{costs[large]:.1f} / {costs[small]:.1f} µs"
    return [Row(name), *lines, Row(f"  {large:,} / {small:,} arms", both, target=AtMost(2, growth, "times"))]


def main() -> None:
    arguments = parser(__doc__)
    arguments.add_argument("--rounds", type=int, help="how often each is measured (default 7; 3 with --quick)")
    options = arguments.parse_args()
    rounds = options.rounds or (3 if options.quick else 7)
    ours: dict[str, list[Costs]] = {name: [] for name in REWARDS}
    peers = []
    for seed in range(rounds):
        for name, reward in REWARDS.items():
            ours[name].append(our_costs(reward, seed))
        peers.append(peer_cost())
    lines = [line for name in REWARDS for line in rows(name, ours[name], peers)]
    show("One ask and tell of MutantUCB", f"Optuna random, in memory, {TRIALS:,} trials", lines, rounds)


if __name__ == "__main__":
    main()
