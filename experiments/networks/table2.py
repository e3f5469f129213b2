"""Table 2 of the Mutant-UCB paper at a scale for two cores: how little Mutant-UCB depends on its exploration E, on MNIST.

∞-UCB-E, for comparison, has no limit N on the steps of a network, as in the paper. K, the number of initial random networks,
is the same share of T as in the paper. Needs the data directory (MANYARMS_DATA, or the user's data directory), torch and, for
the plot, matplotlib.

    python experiments/networks/table2.py run
    python experiments/networks/table2.py table
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from results import Found, load
from runs import Method, Run, command_line, execute_runs
from scale import Scale
from summaries import common, draw_curves, markdown, mean, percent

DATASET = "mnist"
EXPLORATIONS = (0.01, 0.05, 1.0, 5.0, 10.0)
STRATEGIES = ("InfiniteUCBE", "MutantUCB")
PAPER = {  # by E: models tested, and accuracy in %
    "InfiniteUCBE": ((3000, 95.9), (3000, 97.2), (3000, 97.2), (3000, 97.2), (3000, 95.9)),
    "MutantUCB": ((2853, 98.5), (2828, 98.7), (2629, 97.2), (2393, 96.7), (2435, 97.6)),
}


def label(strategy: str, exploration: float) -> str:
    """The name of a method."""
    return f"{strategy} E={exploration:g}"


def methods(scale: Scale) -> list[Method]:
    """The methods, with K as in the paper: 3 of 10 steps for ∞-UCB-E, half of the models that T steps train for Mutant-UCB."""
    own = {
        "InfiniteUCBE": {"initial": 3 * scale.budget // 10, "max_steps": None},
        "MutantUCB": {"initial": max(2, scale.budget // (2 * scale.steps))},
    }
    return [
        Method(label(strategy, exploration), strategy, {**own[strategy], "exploration": exploration})
        for exploration in EXPLORATIONS
        for strategy in STRATEGIES
    ]


def report(found: Mapping[tuple[str, str], Sequence[Found]]) -> None:
    """Print a table for each strategy."""
    columns = ("", "models tested", "test accuracy in %", "paper: models", "paper: accuracy")
    for strategy in STRATEGIES:
        rows = []
        for exploration, (models, accuracy) in zip(EXPLORATIONS, PAPER[strategy], strict=True):
            runs = found.get((DATASET, label(strategy, exploration)), [])
            ours = mean([run.models for run in runs]), percent([run.test for run in runs])
            rows.append((f"E = {exploration:g}", *ours, f"{models:,}", accuracy))
        print(f"\n{strategy}, {max(map(len, found.values()))} seeds:\n\n{markdown(columns, rows)}")


def draw(found: Mapping[tuple[str, str], Sequence[Found]], budget: int) -> None:
    """Draw a panel for each strategy with a curve for each E, on the same axes."""
    figure, axes = common.panels(2, width=4.2)
    for axis, strategy in zip(axes, STRATEGIES, strict=True):
        runs = {f"E = {e:g}": found.get((DATASET, label(strategy, e)), []) for e in EXPLORATIONS}
        draw_curves(axis, {name: [run.curve for run in some] for name, some in runs.items() if some}, budget)
        axis.set(title=strategy, ylabel="validation accuracy, best so far (%)")
        axis.legend(fontsize=7, loc="lower right")
    limits = [limit for axis in axes for limit in axis.get_ylim()]
    for axis in axes:
        axis.set_ylim(min(limits), max(limits))
    common.save(figure, "networks_table2")


def main() -> None:
    """Execute the runs, or report their results."""
    arguments = command_line(__doc__, "networks-table2", seeds=3).parse_args()
    if arguments.command == "run":
        scale = Scale.of(arguments)
        runs = [Run(DATASET, method, seed) for seed in range(arguments.seeds) for method in methods(scale)]
        execute_runs(runs, scale, arguments.results, arguments.workers)
        return
    scale, found = load(arguments.results)
    print(f"Scale: {scale}.")
    report(found)
    draw(found, scale.budget)


if __name__ == "__main__":
    main()
