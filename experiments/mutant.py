"""Compares Mutant-UCB with the baselines of its paper, and shows how little it depends on the exploration E (tables 1 and 2).

T = 10,000 steps, at most N = 10 steps per arm, on three kinds of synthetic learning curves and the three datasets of
NAS-Bench-201, which must be in the data directory (MANYARMS_DATA, or the user's data directory). The accuracy is the true value
of the recommended config. Every run checks that T and N are not exceeded. As in the paper, ∞-UCB-E has no N: after N steps its
arms do not change any more.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from common import COLORS, MARKERS, mean_and_error, options, panels, parallel, plus_minus, save, show

import manyarms as ma
from manyarms.bench.problems import CurveWorld, Problem, nasbench201
from manyarms.bench.problems.protocol import noise_seed

BUDGET, QUICK_BUDGET, MAX_STEPS = 10_000, 1_000, 10
EXPLORATIONS = (0.01, 0.05, 1.0, 5.0, 10.0)
CURVES = ("fast", "slow", "crossing")
DATASETS = ("cifar10", "cifar100", "imagenet")
BY_EXPLORATION = ("fast", "cifar10")  # where E is varied

# The paper's models tested, and accuracies in %. Table 1: CIFAR-10, MRBI, SVHN; of ∞-UCB-E only MNIST is known, from table 2.
PAPER = {
    "RandomSearch": ("1,000", "75.3 / 75.5 / 90.7"),
    "SteadyStateEA": ("1,000", "77.1 / 79.5 / 91.9"),
    "Hyperband": ("2,400", "75.4 / 75.9 / 91.0"),
    "InfiniteUCBE": ("3,000", "97.2 (MNIST)"),
    "MutantUCB": ("3,399 to 3,471", "79.5 / 80.5 / 92.4"),
}
# Table 2, MNIST: by E.
PAPER_MODELS = {"InfiniteUCBE": (3000,) * 5, "MutantUCB": (2853, 2828, 2629, 2393, 2435)}
PAPER_ACCURACY = {"InfiniteUCBE": (95.9, 97.2, 97.2, 97.2, 95.9), "MutantUCB": (98.5, 98.7, 97.2, 96.7, 97.6)}

Job = tuple[str, str, int, int, float]  # strategy, problem, seed, T, E
Found = tuple[int, float]  # models tested, accuracy in %


@functools.cache
def problem_named(name: str) -> Problem:
    """The problem, loaded once in each process."""
    return CurveWorld(name, max_steps=MAX_STEPS) if name in CURVES else nasbench201(name, MAX_STEPS)


def make(name: str, space: Any, budget: int, exploration: float, seed: int) -> Any:
    """The settings of the paper. K is smaller for smaller budgets."""
    if name == "MutantUCB":
        own: dict[str, Any] = {"max_steps": MAX_STEPS, "initial": budget // 20, "exploration": exploration}
    elif name == "InfiniteUCBE":
        own = {"initial": budget * 3 // 10, "exploration": exploration}
    else:
        own = {"max_steps": MAX_STEPS}
    return getattr(ma, name)(space, budget=budget, seed=seed, **own)


def run(job: Job) -> Found:
    """One search."""
    name, problem_name, seed, budget, exploration = job
    problem = problem_named(problem_name)
    strategy = make(name, problem.space, budget, exploration, seed)
    spent = 0
    steps: dict[int, int] = {}  # by arm
    while (pull := strategy.ask()) is not None:
        spent += pull.stop - pull.start
        assert pull.start == steps.get(pull.arm.id, 0), f"{job}: arm {pull.arm.id} does not continue where it stopped"
        steps[pull.arm.id] = pull.stop
        strategy.tell(pull, problem.reward(pull.config, min(pull.stop, MAX_STEPS), noise_seed(seed, pull.arm.id, pull.stop)))
    assert spent <= budget, f"{job}: {spent} steps"
    assert name == "InfiniteUCBE" or max(steps.values()) <= MAX_STEPS, f"{job}: an arm got {max(steps.values())} steps"
    return len(steps), 100.0 * problem.value(strategy.best().config)


def search_all(jobs: Sequence[Job]) -> dict[tuple[str, str, float], list[Found]]:
    """Results by strategy, problem and E."""
    found: dict[tuple[str, str, float], list[Found]] = {}
    for (name, problem_name, _, _, exploration), result in zip(jobs, parallel(run, jobs), strict=True):
        found.setdefault((name, problem_name, exploration), []).append(result)
    return found


def title(problem_name: str) -> str:
    """Results for tables and plots."""
    return f"{problem_name} curves" if problem_name in CURVES else f"NAS-201 {problem_name}"


def report(found: dict[tuple[str, str, float], list[Found]], budget: int, seeds: int) -> None:
    """Print the two tables of the paper."""
    note = "the paper's own data sets are others: compare the order and the models tested, not the accuracies"
    models = []
    accuracies = []
    for name, (paper_models, paper_accuracies) in PAPER.items():
        results = [found[name, problem_name, 0.05] for problem_name in (*CURVES, *DATASETS)]
        models.append((name, *(f"{mean_and_error([n for n, _ in result])[0]:,.0f}" for result in results), paper_models))
        accuracies.append((name, *(plus_minus([value for _, value in result], 2) for result in results), paper_accuracies))
    accuracies.append(("best there is", *(f"{100 * problem_named(p).best:.2f}" for p in (*CURVES, *DATASETS)), ""))
    columns = (f"T = {budget:,}", *map(title, (*CURVES, *DATASETS)))
    show(f"Table 1: models tested, mean of {seeds} seeds", (*columns, "paper"), models)
    show(f"Table 1: accuracy in %, {seeds} seeds", (*columns, "paper: CIFAR-10 / MRBI / SVHN"), accuracies, note)
    for name, problem_name in ((name, p) for p in BY_EXPLORATION for name in PAPER_MODELS):
        rows = []
        for number, exploration in enumerate(EXPLORATIONS):
            result = found[name, problem_name, exploration]
            ours = plus_minus([n for n, _ in result], 0), plus_minus([value for _, value in result], 2)
            rows.append((f"E = {exploration:g}", *ours, f"{PAPER_MODELS[name][number]:,}", PAPER_ACCURACY[name][number]))
        columns = ("", "models tested", "accuracy in %", "paper: models", "paper: accuracy (MNIST)")
        show(f"Table 2: {name} on {title(problem_name)}, T = {budget:,}, {seeds} seeds", columns, rows)


def draw(found: dict[tuple[str, str, float], list[Found]]) -> None:
    """Draw the distance of each strategy from the best, and the models tested and the distance by E."""
    figure, (left, middle, right) = panels(3, width=4.0, height=3.8)
    problem_names = (*CURVES, *DATASETS)
    for number, name in enumerate(PAPER):
        results = [[100 * problem_named(p).best - value for _, value in found[name, p, 0.05]] for p in problem_names]
        means, errors = zip(*map(mean_and_error, results), strict=True)
        places = [place + 0.13 * (number - 2) for place in range(len(problem_names))]
        left.errorbar(places, means, yerr=errors, fmt=MARKERS[number], color=COLORS[number], capsize=2, label=name)
    left.set_xticks(range(len(problem_names)), [title(p).replace(" ", "\n") for p in problem_names], fontsize=7)
    left.set(ylabel="accuracy below the best, points", title="T = 10,000, E = 0.05")
    left.set_yscale("symlog", linthresh=0.1)
    left.set_yticks((0, 0.1, 1, 10, 30), ("0", "0.1", "1", "10", "30"))
    left.set_ylim(-0.02, 400)  # room for the legend
    left.legend(fontsize=7, ncols=2, loc="upper right")
    for number, (name, p) in enumerate((name, p) for name in PAPER_MODELS for p in BY_EXPLORATION):
        style: dict[str, Any] = {"color": COLORS[number], "marker": MARKERS[number], "label": f"{name}, {title(p)}"}
        results = [found[name, p, exploration] for exploration in EXPLORATIONS]
        middle.plot(EXPLORATIONS, [mean_and_error([n for n, _ in result])[0] for result in results], **style)
        below = [mean_and_error([100 * problem_named(p).best - value for _, value in result]) for result in results]
        right.errorbar(EXPLORATIONS, [mean for mean, _ in below], yerr=[error for _, error in below], capsize=2, **style)
    middle.plot(EXPLORATIONS, PAPER_MODELS["MutantUCB"], "k--", label="MutantUCB, paper (MNIST)")
    middle.set(xscale="log", xlabel="exploration E", ylabel="models tested", title="models tested by E", ylim=(0, None))
    right.set(xscale="log", xlabel="exploration E", ylabel="accuracy below the best, points", title="accuracy by E")
    middle.legend(fontsize=7)
    save(figure, "mutant")


def main() -> None:
    """Search, report and draw."""
    arguments = options(__doc__).parse_args()
    seeds = arguments.seeds or (2 if arguments.quick else 5)
    budget = QUICK_BUDGET if arguments.quick else BUDGET
    usual = [(name, p, 0.05) for p in (*CURVES, *DATASETS) for name in PAPER]
    varied = [(name, p, exploration) for p in BY_EXPLORATION for name in PAPER_MODELS for exploration in EXPLORATIONS]
    searches = dict.fromkeys(usual + varied)  # E = 0.05 is in both
    found = search_all([(name, p, seed, budget, exploration) for name, p, exploration in searches for seed in range(seeds)])
    report(found, budget, seeds)
    if not arguments.quick:
        draw(found)


if __name__ == "__main__":
    main()
