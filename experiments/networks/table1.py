"""Table 1 of the Mutant-UCB paper at a scale for two cores: strategies search for networks with equal budgets.

Mutant-UCB, AdaptiveMutantUCB, random search, an evolutionary algorithm and Hyperband have T steps each on subsets of MNIST,
Fashion-MNIST, CIFAR-10 and MRBI. With --cold, Mutant-UCB also runs with mutants that start with fresh weights. Needs the data
directory (MANYARMS_DATA, or the user's data directory), torch and, for the plot, matplotlib.

    python experiments/networks/table1.py run --cold
    python experiments/networks/table1.py table
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

from results import Found, load
from runs import Method, Run, command_line, execute_runs
from scale import TITLES, Scale
from summaries import common, draw_curves, markdown, mean, mean_curve, percent, steps_until

OURS = ("MutantUCB", "AdaptiveMutantUCB")
STRATEGIES = (*OURS, "RandomSearch", "SteadyStateEA", "Hyperband")
COLD = "MutantUCB, cold"
PAPER = {  # models tested and accuracies in %, on CIFAR-10, MRBI and SVHN
    "RandomSearch": ("1,000", "75.3 / 75.5 / 90.7"),
    "SteadyStateEA": ("1,000", "77.1 / 79.5 / 91.9"),
    "Hyperband": ("2,400", "75.4 / 75.9 / 91.0"),
    "MutantUCB": ("3,399 to 3,471", "79.5 / 80.5 / 92.4"),
}

AllFound = Mapping[tuple[str, str], Sequence[Found]]  # by dataset and method


def methods(scale: Scale, cold: bool) -> list[Method]:
    """The settings of the paper. K is half of the models that T steps train to the end, as in the paper."""
    mutant = {"exploration": 0.05, "initial": max(2, scale.budget // (2 * scale.steps))}
    plain = [Method(name, name, mutant if name == "MutantUCB" else {}) for name in STRATEGIES]
    return plain + [Method(COLD, "MutantUCB", mutant, warm=False)] * cold


def report(found: AllFound, datasets: Sequence[str], budget: int) -> None:
    """Print accuracies, models tested, times, and the value of inheriting weights."""
    names = [name for name in (*STRATEGIES, COLD) if any((dataset, name) in found for dataset in datasets)]
    runs = {name: [found.get((dataset, name), []) for dataset in datasets] for name in names}
    titles = [TITLES[dataset] for dataset in datasets]
    n_seeds = sorted({len(some) for some in found.values()})
    paper = {name: PAPER.get(name, ("", "")) for name in names}
    accuracies = [(name, *(percent([run.test for run in some]) for some in runs[name]), paper[name][1]) for name in names]
    models = [(name, *(mean([run.models for run in some]) for some in runs[name]), paper[name][0]) for name in names]
    seconds = [(name, *(mean([run.seconds for run in some]) for some in runs[name])) for name in names]
    print(f"\nTest accuracy of the recommended network in %, {' to '.join(map(str, n_seeds))} seeds:\n")
    print(markdown(("", *titles, "paper: CIFAR-10 / MRBI / SVHN"), accuracies))
    print(f"\n{best_by_dataset(found, datasets)}\n\nModels tested:\n")
    print(markdown(("", *titles, "paper"), models))
    print("\nSeconds per run, on one core:\n")
    print(markdown(("", *titles), seconds))
    print(f"\nFailed pulls: {sum(run.failed for some in found.values() for run in some)}.")
    if COLD in names:
        print("\nSteps until the final validation accuracy of Mutant-UCB with cold mutants, seed by seed:\n")
        columns = ("", "accuracy, %", "reached warm", "warm steps", "cold steps", "warm in fewer")
        print(markdown(columns, warmth(found, datasets)))
        print("\nThe same for the mean curves over seeds, as drawn:\n")
        print(markdown(("", "accuracy, %", "warm steps", "cold steps"), mean_warmth(found, datasets, budget)))


def best_by_dataset(found: AllFound, datasets: Sequence[str]) -> str:
    """The best strategy on each dataset, by mean test accuracy."""
    leaders = {}
    for dataset in datasets:
        tests = {name: [run.test for run in found.get((dataset, name), [])] for name in STRATEGIES}
        means = {name: common.mean_and_error(some)[0] for name, some in tests.items() if some}
        leaders[TITLES[dataset]] = max(means, key=means.__getitem__)
    ours = sum(name in OURS for name in leaders.values())
    words = ", ".join(f"{title}: {name}" for title, name in leaders.items())
    return f"Best on average: {words}. {' or '.join(OURS)} on {ours} of {len(leaders)}."


def warmth(found: AllFound, datasets: Sequence[str]) -> list[tuple[object, ...]]:
    """For each dataset, how soon warm mutants reach the final accuracy of cold ones, over the seeds that have both."""
    rows: list[tuple[object, ...]] = []
    for dataset in datasets:
        warm = {run.seed: run.curve for run in found.get((dataset, "MutantUCB"), [])}
        cold = {run.seed: run.curve for run in found.get((dataset, COLD), [])}
        seeds = sorted(warm.keys() & cold.keys())
        ends = [cold[seed][-1] for seed in seeds]
        pairs = [(steps_until(warm[seed], level), steps) for seed, (steps, level) in zip(seeds, ends, strict=True)]
        reached = [steps for steps, _ in pairs if steps is not None]
        fewer = sum(steps is not None and steps < other for steps, other in pairs)
        of = f"of {len(seeds)}"
        steps = mean(reached), mean([other for _, other in pairs])
        rows.append((TITLES[dataset], percent([level for _, level in ends]), f"{len(reached)} {of}", *steps, f"{fewer} {of}"))
    return rows


def mean_warmth(found: AllFound, datasets: Sequence[str], budget: int) -> list[tuple[object, ...]]:
    """For each dataset, the steps until the mean curve of warm searches reaches the end of the mean curve of cold ones."""
    rows: list[tuple[object, ...]] = []
    for dataset in datasets:
        kinds = [[run.curve for run in found.get((dataset, name), [])] for name in ("MutantUCB", COLD)]
        if all(kinds):
            warm, cold = (mean_curve(curves, budget) for curves in kinds)
            level = cold[-1][1]
            rows.append((TITLES[dataset], f"{100 * level:.2f}", steps_until(warm, level) or "never", steps_until(cold, level)))
    return rows


def draw(found: AllFound, datasets: Sequence[str], budget: int) -> None:
    """Draw a panel for each dataset."""
    figure, axes = common.panels(len(datasets), width=3.3, height=3.8)
    for axis, dataset in zip(axes, datasets, strict=True):
        names = [name for name in (*STRATEGIES, COLD) if (dataset, name) in found]
        draw_curves(axis, {name: [run.curve for run in found[dataset, name]] for name in names}, budget)
        axis.set(title=TITLES[dataset])
    axes[0].set(ylabel="validation accuracy of the\nrecommended network, best so far (%)")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=min(6, 2 * len(datasets)))
    common.save(figure, "networks_table1")


def main() -> None:
    """Execute the runs, or report their results."""
    parser = command_line(__doc__, "networks-table1", seeds=3)
    run = parser.get_default("run")
    run.add_argument("--cold", action="store_true", help="also run Mutant-UCB with mutants that start with fresh weights")
    run.add_argument("--sets", nargs="+", choices=TITLES, default=list(TITLES), metavar="name", help="datasets (default: all)")
    arguments = parser.parse_args()
    if arguments.command == "run":
        scale = Scale.of(arguments)
        chosen = itertools.product(range(arguments.seeds), arguments.sets, methods(scale, arguments.cold))
        runs = [Run(dataset, method, seed) for seed, dataset, method in chosen]
        execute_runs(runs, scale, arguments.results, arguments.workers)
        return
    scale, found = load(arguments.results)
    datasets = [dataset for dataset in TITLES if any(key[0] == dataset for key in found)]
    print(f"Scale: {scale}.")
    report(found, datasets, scale.budget)
    draw(found, datasets, scale.budget)


if __name__ == "__main__":
    main()
