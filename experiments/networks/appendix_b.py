"""The two figures of appendix B of the Mutant-UCB paper, at a scale for two cores.

The first figure shows the accuracy of random networks that are trained to the end, the same networks on each dataset. (If
images have different shapes, the networks are only similar.) The second shows, on MNIST, the accuracy of mutants of eight of
these networks, compared with the networks themselves. Mutants start with the weights of their parent or with fresh ones, and
are also trained to the end, so that it shows how many steps a warm mutant saves. Accuracies are validation accuracies. A
network whose training diverged counts as 0. Needs the data directory (MANYARMS_DATA, or the user's data directory), torch and
matplotlib.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scale import TITLES, Scale, make_classifier
from summaries import common, markdown, steps_until

import manyarms as ma
from manyarms.bench.runs.pool import map_runs

PARENTS = 8
CHUNK = 10  # networks of a job
Network = Any
Accuracies = list[float]  # of a network, after each of its steps


class Listed:
    """A strategy that trains given arms to the end, one after another."""

    def __init__(self, arms: Sequence[ma.Arm], steps: int, seed: int = 0) -> None:
        self.arms, self.steps, self.seed = list(arms), steps, seed
        self.rewards: list[Accuracies] = [[] for _ in arms]

    def ask(self) -> ma.Pull | None:
        for arm, rewards in zip(self.arms, self.rewards, strict=True):
            if len(rewards) < self.steps:
                return ma.Pull(arm, len(rewards), len(rewards) + 1)
        return None

    def tell(self, pull: ma.Pull, reward: float | None) -> None:
        rewards = self.rewards[self.arms.index(pull.arm)]
        rewards.extend([0.0] * (self.steps - len(rewards)) if reward is None else [reward])

    def best(self) -> ma.Arm:
        return max(zip(self.rewards, self.arms, strict=True), key=lambda pair: max(pair[0], default=0.0))[1]


def train(dataset: str, scale: Scale, arms: Sequence[ma.Arm], warm: bool) -> list[Accuracies]:
    """The accuracies of networks after each step of a full training."""
    strategy = Listed(arms, scale.steps)
    with ma.Study(strategy) as study:
        study.optimize(make_classifier(dataset, scale, warm), progress=False)
    return strategy.rewards


def random_network(dataset: str, scale: Scale, number: int) -> Network:
    """The random network with this number."""
    return make_classifier(dataset, scale).space.sample(np.random.default_rng(number))


def train_random(job: tuple[str, Scale, range]) -> list[float]:
    """The final accuracies of random networks."""
    dataset, scale, numbers = job
    arms = [ma.Arm(n, random_network(dataset, scale, n)) for n in numbers]
    return [accuracies[-1] for accuracies in train(dataset, scale, arms, warm=False)]


def train_mutants(job: tuple[str, Scale, int, int, bool]) -> list[Accuracies]:
    """The accuracies of a random network and of its mutants, which are the same whether warm or cold."""
    dataset, scale, number, n_mutants, warm = job
    parent, rng = random_network(dataset, scale, number), np.random.default_rng([number, 1])
    space = make_classifier(dataset, scale).space
    mutants = [ma.Arm(1000 * (number + 1) + n, space.mutate(parent, rng), (number,)) for n in range(n_mutants)]
    return train(dataset, scale, [ma.Arm(number, parent), *mutants], warm)  # their seeds depend on these numbers


def spread_out(accuracies: Sequence[float], count: int) -> list[int]:
    """The numbers of networks with accuracies that are evenly spread from the worst to the best.

    >>> spread_out([0.1, 0.9, 0.12, 0.5, 0.11], 3)
    [0, 3, 1]
    """
    left = set(range(len(accuracies)))
    chosen = []
    for level in np.linspace(min(accuracies), max(accuracies), count):
        chosen.append(min(left, key=lambda number: (abs(accuracies[number] - level), number)))
        left.remove(chosen[-1])
    return sorted(chosen, key=lambda number: (accuracies[number], number))


def in_words(values: Sequence[float]) -> list[str]:
    """Minimum, quartiles and maximum, in percent."""
    return [f"{100 * value:.1f}" for value in np.quantile(values, (0, 0.25, 0.5, 0.75, 1))]


@dataclass(frozen=True)
class Family:
    """The accuracies of a network and of its mutants, with inherited weights (warm) and with fresh ones (cold).

    >>> Family([0.4, 0.5], warm=[[0.6, 0.6], [0.3, 0.4]], cold=[[0.3, 0.5], [0.4, 0.5]]).steps
    [1, 3]
    """

    parent: Accuracies
    warm: list[Accuracies]
    cold: list[Accuracies]

    @classmethod
    def of(cls, warm: Sequence[Accuracies], cold: Sequence[Accuracies]) -> Family:
        """A family from two lists, in which the parent comes first."""
        return cls(warm[0], list(warm[1:]), list(cold[1:]))

    @property
    def steps(self) -> list[int]:
        """Steps until each warm mutant has the final accuracy of the cold one; the maximum plus one if it never has."""
        pairs = zip(self.warm, self.cold, strict=True)
        return [steps_until(list(enumerate(warm, 1)), cold[-1]) or len(warm) + 1 for warm, cold in pairs]

    def row(self) -> tuple[str, ...]:
        """The final accuracies of the parent and of its mutants."""
        parent = self.parent[-1]
        ends = [np.array([accuracies[-1] for accuracies in mutants]) for mutants in (self.warm, self.cold)]
        return f"{100 * parent:.1f}", *(f"{100 * np.median(end):.1f}, {np.mean(end > parent):.0%}" for end in ends)


def warmth(families: Sequence[Family]) -> tuple[str, ...]:
    """The number of mutants, the median of their steps, and the shares with fewer, equal and more steps than cold ones."""
    steps, most = np.array([steps for family in families for steps in family.steps]), len(families[0].parent)
    shares = steps < most, steps == most, steps > most
    return f"{len(steps)}", f"{np.median(steps):.0f}", *(f"{np.mean(share):.0%}" for share in shares)


def draw(found: dict[str, list[float]], families: Sequence[Family], dataset: str) -> None:
    """Draw histograms of random networks, and box plots of mutants at the accuracy of their parents."""
    figure, (left, right) = common.panels(2, width=5.0, height=3.8)
    for (name, accuracies), color in zip(found.items(), common.COLORS, strict=False):
        left.hist(100 * np.array(accuracies), bins=np.arange(0, 101, 5), histtype="step", label=TITLES[name], color=color)
    left.set(xlabel="validation accuracy (%)", ylabel="random networks", title="random networks")
    left.legend(fontsize=7)
    usual = {"widths": 2.2, "showfliers": False, "manage_ticks": False, "patch_artist": True, "medianprops": {"color": "black"}}
    places = 100 * np.array([family.parent[-1] for family in families])
    for shift, color, name in ((-1.3, common.COLORS[1], "warm"), (1.3, common.COLORS[0], "cold")):
        boxes = [[100 * accuracies[-1] for accuracies in getattr(family, name)] for family in families]
        right.boxplot(boxes, positions=places + shift, boxprops={"facecolor": color, "alpha": 0.5}, **usual)
        right.plot([], [], "s", color=color, alpha=0.5, label=f"{name} mutants")
    grey = {"facecolor": "#cccccc"}
    right.boxplot([100 * np.array(found[dataset])], positions=[105], boxprops=grey, **usual)
    right.plot([], [], "s", color="#cccccc", label="random networks (at the right edge)")
    right.plot([0, 100], [0, 100], "k-", linewidth=1)
    right.set(xlabel="the parent's accuracy (%)", ylabel="validation accuracy (%)", title=f"mutants, {TITLES[dataset]}")
    right.set(xlim=(0, 109), ylim=(0, 100))
    right.legend(fontsize=7, loc="upper left")
    common.save(figure, "networks_appendix_b")


def main() -> None:
    """Train, report and draw."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--networks", type=int, default=100, metavar="n", help="random networks on each dataset (default: 100)")
    parser.add_argument("--mutants", type=int, default=12, metavar="n", help="mutants of each parent (default 12)")
    parser.add_argument(
        "--sets", nargs="+", choices=TITLES, default=["mnist", "cifar10", "mrbi"], metavar="name", help="datasets"
    )
    parser.add_argument("--workers", type=int, default=2, metavar="n", help="number of processes (default: 2)")
    Scale.add_options(parser)
    arguments = parser.parse_args()
    scale, sets, first = Scale.of(arguments), arguments.sets, arguments.sets[0]
    if arguments.networks < PARENTS:
        raise SystemExit(f"--networks must be at least {PARENTS}, because the parents are chosen among them.")
    numbers = [range(n, min(n + CHUNK, arguments.networks)) for n in range(0, arguments.networks, CHUNK)]
    began = time.perf_counter()
    chunks = iter(map_runs(train_random, [(name, scale, chunk) for name in sets for chunk in numbers], arguments.workers))
    found = {name: [accuracy for _ in numbers for accuracy in next(chunks)] for name in sets}
    parents = {name: spread_out(accuracies, PARENTS) for name, accuracies in found.items()}
    jobs = [(name, scale, n, arguments.mutants, warm) for name in sets for n in parents[name] for warm in (True, False)]
    trained = iter(map_runs(train_mutants, jobs, arguments.workers))
    families = {name: [Family.of(next(trained), next(trained)) for _ in parents[name]] for name in sets}
    print(f"Scale: {scale.images}; {scale.limits}; {scale.training}. {time.perf_counter() - began:.0f} seconds.\n")
    print(f"Validation accuracy of {arguments.networks} random networks in %:\n")
    columns = ("", "worst", "first quartile", "median", "third quartile", "best")
    print(markdown(columns, [(TITLES[name], *in_words(accuracies)) for name, accuracies in found.items()]))
    print(f"\nMedian accuracy of {arguments.mutants} mutants in % on {TITLES[first]}, and the share better than the parent:\n")
    print(markdown(("parent", "warm", "cold"), [family.row() for family in families[first]]))
    print(f"\nSteps until a warm mutant is as accurate as the same mutant with a cold start after {scale.steps} steps:\n")
    columns = ("", "mutants", "median", "fewer", "equal", "more")
    print(markdown(columns, [(TITLES[name], *warmth(some)) for name, some in families.items()]))
    draw(found, families[first], first)


if __name__ == "__main__":
    main()
