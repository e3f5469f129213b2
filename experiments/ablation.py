"""Each rule of AdaptiveMutantUCB, and what is lost without it, on the problems on which the strategy was tuned.

A variant of the strategy works without one rule. All variants get the same problems and seeds, so the table shows the regret
of the complete strategy, and how much larger the regret of each variant is: the mean difference over all problems, and its
standard error over the seeds. The last column is the share of searches that recommend a complete arm after 5 full trainings:
one that is fully trained, or whose curve has turned. Families whose tables are not in the data directory (MANYARMS_DATA, or
the user's data directory) are left out.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import patch

import common
import numpy as np

import manyarms as ma
from manyarms.bench.race.charged_problem import ChargedProblem
from manyarms.bench.race.families import FAMILIES
from manyarms.bench.race.methods import Method, search
from manyarms.bench.race.selection import chosen_families
from manyarms.strategies.surrogate import rules

MARKS = (5, 10, 20, 50, 100)
SLOW = ("digits MLP",)  # it trains real networks


@dataclass(frozen=True)
class Variant:
    """The strategy with other options, or with other rules.

    Attributes:
        options: Arguments of the strategy.
        rules: What replaces functions and constants of `rules`, by name.
    """

    options: dict[str, Any] = field(default_factory=dict)
    rules: dict[str, Any] = field(default_factory=dict)


def rewards_so_far(averages: Any, bests: Any, corrections: Any, turned: Any) -> Any:
    """Instead of the predicted rewards: the rewards so far, which favor arms that were trained longer."""
    return np.where(turned, bests, averages)


def never(*arguments: Any, **named: Any) -> bool:
    return False


ALL_RULES = "all rules"
VARIANTS = {
    ALL_RULES: Variant(),
    "scores are rewards so far": Variant(rules={"predicted_rewards": rewards_so_far}),
    "no exploration bonus": Variant({"exploration": 0.0}),
    "no share for continuing arms": Variant(rules={"must_continue_an_arm": never}),
    "curves that have turned": Variant({"stop_turned": False}),
    "no new arms but mutants": Variant(rules={"new_arm_probability": lambda pulls, guided: 0.0}),
    "no Gaussian process": Variant({"surrogate": False}),
    "half the standard deviations": Variant(rules={"DEVIATIONS": 1.0}),
    "no training to completion": Variant(rules={"should_train_to_completion": never}),
    "leader not finished": Variant(rules={"may_finish_an_arm": never}),
    "unfinished arms recommended": Variant(rules={"UNFINISHED_MARGIN": 0.0}),
}


@dataclass(frozen=True)
class Job:
    """One search."""

    variant: str
    family: str
    number: int
    seed: int


@dataclass(frozen=True)
class Found:
    """The regret at each mark, and whether the arm recommended at the first mark was complete."""

    regrets: list[float]
    is_complete: bool


@contextlib.contextmanager
def replaced(names: dict[str, Any]) -> Iterator[None]:
    """Replace functions and constants of the rules for a while."""
    with contextlib.ExitStack() as stack:
        for name, value in names.items():
            stack.enter_context(patch.object(rules, name, value))
        yield


def run(job: Job) -> Found:
    variant, problem = VARIANTS[job.variant], FAMILIES[job.family].problems()[job.number]
    complete: list[bool] = []

    def search_with_variant(charged: ChargedProblem) -> None:
        settings = {"budget": charged.budget, "max_steps": problem.max_steps, "seed": charged.seed}
        strategy = ma.AdaptiveMutantUCB(problem.space, **settings, **variant.options)

        def recommend() -> Any:
            arm = strategy.best()
            complete.append(bool(strategy._scores.is_complete(arm.id)))
            return arm.config

        charged.recommend = recommend
        while (pull := strategy.ask()) is not None:
            strategy.tell(pull, charged.train(pull.config, pull.stop))

    charged = ChargedProblem(problem, MARKS, job.seed)
    with replaced(variant.rules):
        search(Method(job.variant, search_with_variant), charged)
    return Found([found.regret for found in charged.measurements], complete[0])


def losses(found: np.ndarray, of_all_rules: np.ndarray) -> list[str]:
    """How much larger the regrets of a variant are at each mark. The arrays are problems x seeds x marks."""
    by_seed = (found - of_all_rules).mean(axis=0)
    return [common.plus_minus(values, 1) for values in by_seed.T]


def main() -> None:
    parser = common.options(__doc__)
    parser.add_argument("--variants", nargs="+", choices=list(VARIANTS)[1:], help="only these (default: all)")
    arguments = parser.parse_args()
    seeds = range(arguments.seeds or (1 if arguments.quick else 4))
    chosen, notes = chosen_families(None, "tuned", arguments.quick)
    names = [ALL_RULES, *(arguments.variants or list(VARIANTS)[1:])]
    places = [(family, number) for family, numbers in chosen.items() if family not in SLOW for number in numbers]
    jobs = [Job(name, *place, seed) for name in names for place in places for seed in seeds]
    results = common.parallel(run, jobs)
    shape = len(names), len(places), len(seeds)
    regrets = np.reshape([found.regrets for found in results], (*shape, len(MARKS)))
    complete = np.reshape([found.is_complete for found in results], shape).mean(axis=(1, 2))
    rows = [(ALL_RULES, *(common.plus_minus(values, 1) for values in regrets[0].mean(axis=0).T), f"{complete[0]:.0%}")]
    rows += [
        (name, *losses(regrets[number], regrets[0]), f"{complete[number]:.0%}") for number, name in enumerate(names) if number
    ]
    title = f"Mean regret (%) after a number of full trainings, and the loss without each rule; {len(places)} problems"
    columns = ("without", *map(str, MARKS), "complete at 5")
    common.show(title, columns, rows, "\n".join([f"{len(seeds)} seeds.", *notes]))


if __name__ == "__main__":
    main()
