"""The Mutant-UCB paper's table 1 in shape, at a scale for two cores: strategies search for networks with equal budgets.

Mutant-UCB, AdaptiveMutantUCB, random search, an evolutionary algorithm and Hyperband have T steps each on subsets of MNIST,
Fashion-MNIST, CIFAR-10 and MRBI. With --cold, Mutant-UCB also runs with mutants that begin with fresh weights. Needs the data
folder (MANYARMS_DATA), torch and, for the plot, matplotlib.

    python experiments/networks/table1.py run --cold
    python experiments/networks/table1.py table
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

from results import Found, Results
from runs import Method, Run, command_line, run_all
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

AllFound = Mapping[tuple[str, str], Sequence[Found]]  # by set and method


def methods(scale: Scale, cold: bool) -> list[Method]:
    """The paper's settings; of K, its share of the models that T steps train to the end: one half."""
    mutant = {"exploration": 0.05, "initial": max(2, scale.budget // (2 * scale.steps))}
    plain = [Method(name, name, mutant if name == "MutantUCB" else {}) for name in STRATEGIES]
    return plain + [Method(COLD, "MutantUCB", mutant, warm=False)] * cold


def report(found: AllFound, datasets: Sequence[str], budget: int) -> None:
    """Accuracies, models tested, time, and what inheriting weights is worth."""
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
    print(f"\n{verdict(found, datasets)}\n\nModels tested:\n")
    print(markdown(("", *titles, "paper"), models))
    print("\nSeconds of a run, on one core:\n")
    print(markdown(("", *titles), seconds))
    print(f"\nFailed pulls: {sum(run.failed for some in found.values() for run in some)}.")
    if COLD in names:
        print("\nSteps until the validation accuracy that Mutant-UCB with cold mutants has in the end, seed by seed:\n")
        columns = ("", "accuracy, %", "reached warm", "warm steps", "cold steps", "warm in fewer")
        print(markdown(columns, warmth(found, datasets)))
        print("\nThe same of the means over the seeds, as drawn:\n")
        print(markdown(("", "accuracy, %", "warm steps", "cold steps"), mean_warmth(found, datasets, budget)))


def verdict(found: AllFound, datasets: Sequence[str]) -> str:
    """Who is best on each set, by the mean of the test accuracy."""
    leaders = {}
    for dataset in datasets:
        tests = {name: [run.test for run in found.get((dataset, name), [])] for name in STRATEGIES}
        means = {name: common.mean_and_error(some)[0] for name, some in tests.items() if some}
        leaders[TITLES[dataset]] = max(means, key=means.__getitem__)
    ours = sum(name in OURS for name in leaders.values())
    words = ", ".join(f"{title}: {name}" for title, name in leaders.items())
    return f"Best in the mean: {words}. {' or '.join(OURS)} on {ours} of {len(leaders)}."


def warmth(found: AllFound, datasets: Sequence[str]) -> list[tuple[object, ...]]:
    """A row for each set: how soon warm mutants reach what cold ones have in the end, over the seeds that have both."""
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
    """A row for each set: after how many steps the mean of the warm searches is where that of the cold ones ends."""
    rows: list[tuple[object, ...]] = []
    for dataset in datasets:
        kinds = [[run.curve for run in found.get((dataset, name), [])] for name in ("MutantUCB", COLD)]
        if all(kinds):
            warm, cold = (mean_curve(curves, budget) for curves in kinds)
            level = cold[-1][1]
            rows.append((TITLES[dataset], f"{100 * level:.2f}", steps_until(warm, level) or "never", steps_until(cold, level)))
    return rows


def draw(found: AllFound, datasets: Sequence[str], budget: int) -> None:
    """A panel for each set."""
    figure, axes = common.panels(len(datasets), width=3.3, height=3.8)
    for axis, dataset in zip(axes, datasets, strict=True):
        names = [name for name in (*STRATEGIES, COLD) if (dataset, name) in found]
        draw_curves(axis, {name: [run.curve for run in found[dataset, name]] for name in names}, budget)
        axis.set(title=TITLES[dataset])
    axes[0].set(ylabel="validation accuracy of the\nrecommended network, best so far (%)")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=min(6, 2 * len(datasets)))
    common.save(figure, "networks_table1")


def main() -> None:
    """Run the runs, or report what they gave."""
    parser = command_line(__doc__, "networks-table1", seeds=3)
    run = parser.get_default("run")
    run.add_argument("--cold", action="store_true", help="also Mutant-UCB whose mutants begin with fresh weights")
    run.add_argument("--sets", nargs="+", choices=TITLES, default=list(TITLES), metavar="set", help="only these")
    arguments = parser.parse_args()
    results = Results(arguments.results)
    if arguments.command == "run":
        scale = Scale.of(arguments)
        runs = itertools.product(range(arguments.seeds), arguments.sets, methods(scale, arguments.cold))
        run_all([Run(dataset, method, seed) for seed, dataset, method in runs], scale, results, arguments.workers)
        return
    scale, found = results.scale(), results.found()
    datasets = [dataset for dataset in TITLES if any(key[0] == dataset for key in found)]
    print(f"Scale: {scale}.")
    report(found, datasets, scale.budget)
    draw(found, datasets, scale.budget)


if __name__ == "__main__":
    main()
