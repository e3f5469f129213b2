"""How far one study scales: where its process stops keeping up with its workers, and what many workers cost in regret.

1. Measured: the CPU time of the study process for one pull, by strategy and by the length of the study, in a real study in
   memory whose workers are simulated; the time to store outcomes, alone and together; and the CPU time to send a pull to a
   worker process and receive its outcome. Pulls have a median length of one simulated second.
2. Simulated, from these costs: how busy the study process is with up to 10,000 workers, how long a free worker waits for its
   next pull, and how many workers end more pulls than the process can handle. Lengths of pulls are log-normal (standard
   deviation of the logarithm 0.5). A cluster has costs of its own for each task; `--submit` adds them.
3. Measured: the regret of the default strategy on 1 to 256 simulated workers, with the same number of steps in total.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from postgres_server import running_server
from report import AtMost, Row, machine, parser, show, show_table
from scaling.costs import STRATEGIES, PullCost, append_seconds, pull_costs, runner_cost
from scaling.regrets import all_regrets, chosen_problems, losses
from scaling.waiting import ProcessCost, mean_seconds, saturation, simulate

SIZES = (1_000, 10_000, 100_000)
BATCHES = (1, 10, 100, 1000)
FAMILIES = ("LCBench", "TaskSet", "Hartmann", "fast curves", "slow curves", "crossing curves")
MEDIANS = (1.0, 10.0, 60.0, 600.0)
WORKERS = (100, 1_000, 10_000)
TARGET_WORKERS, TARGET = 64, 2.0  # points of regret that may be lost


def show_pull_costs(sizes: Sequence[int], many: int) -> dict[str, PullCost]:
    """Measure the strategies, also with many workers. Returns the costs of each one in the longest study."""
    lines, last, long = [], {}, 2 * many
    for strategy in STRATEGIES:
        few = pull_costs(strategy, 100, sizes)
        last[strategy] = few[sizes[-1]]
        shown = [(100, size, cost) for size, cost in few.items()] + [(many, long, pull_costs(strategy, many, [long])[long])]
        for workers, size, cost in shown:
            parts = (_time(seconds) for seconds in (cost.deciding, cost.study, cost.total, cost.snapshot))
            lines.append((strategy, f"{workers:,}", f"{size:,}", f"{cost.arms:,}", *parts))
    columns = ("strategy", "workers", "pulls", "arms", "deciding", "rest of the study", "total", "longest snapshot")
    show_table("CPU time of the study process for one pull, without storage and workers (measured)", columns, lines)
    return last


def show_appends(directory: Path, url: str, repeats: int) -> dict[str, dict[int, float]]:
    """Measure the databases."""
    found = {
        "SQLite": append_seconds(f"sqlite:///{directory}/journal.db", BATCHES, repeats),
        "PostgreSQL": append_seconds(url, BATCHES, repeats),
    }
    lines = [
        (name, *(f"{_time(seconds)} ({n / seconds:,.0f}/s)" for n, seconds in times.items())) for name, times in found.items()
    ]
    columns = ("storage", *(f"batch of {n:,}" for n in BATCHES))
    show_table("Time to store the outcomes of pulls in one transaction, and pulls per second (measured)", columns, lines)
    return found


def show_runner(directory: Path, workers: Sequence[int], pulls: int) -> float:
    """Measure worker processes. Returns the cost of the smallest number of them."""
    found = {n: runner_cost(n, pulls, directory) for n in workers}
    lines = [(f"{n}", _time(seconds)) for n, seconds in found.items()]
    show_table("CPU time to send a pull to a worker process and receive its outcome (measured)", ("workers", "per pull"), lines)
    return found[workers[0]]


def show_waits(costs: dict[str, ProcessCost], pulls: int) -> None:
    """Simulate one-minute pulls."""
    lines = []
    for name, cost in costs.items():
        for workers in WORKERS:
            load = simulate(workers, 60.0, cost, max(pulls, workers))
            parts = f"{load.rate:,.1f}", _share(load.busy), _time(load.wait), _time(load.long_wait), _share(load.idle)
            lines.append((name, f"{workers:,}", *parts, _time(load.first), f"{load.together:.1f}"))
    columns = (
        "study",
        "workers",
        "pulls/s",
        "process busy",
        "mean wait",
        "p99 wait",
        "workers idle",
        "first pulls",
        "together",
    )
    note = (
        "wait: from the end of a pull to the start of the next one on that worker. first pulls: until all workers have one. "
        "together: outcomes in a transaction."
    )
    show_table("Pulls with a median of one minute (simulated from the measured costs)", columns, lines, note)


def show_saturation(costs: dict[str, ProcessCost], pulls: int) -> None:
    """Print the limit of the process and the workers that reach it, and what happens around that number."""
    lines = [
        (name, f"{1 / cost.per_pull:,.0f}", *(f"{_rounded(saturation(cost, median)):,}" for median in MEDIANS))
        for name, cost in costs.items()
    ]
    columns = ("study", "most pulls/s", *(f"median pull {_time(median)}" for median in MEDIANS))
    show_table("The maximum pulls per second, and the workers that reach it (computed from the measured costs)", columns, lines)
    name, cost = next(iter(costs.items()))
    median = 1.0
    lines = []
    for share in (0.25, 0.5, 0.8, 1.0, 1.5, 2.0):
        workers = max(1, round(share * saturation(cost, median)))
        load = simulate(workers, median, cost, max(pulls, workers))
        useful = load.rate * mean_seconds(median) / workers
        lines.append((f"{share:g}", f"{workers:,}", f"{load.rate:,.0f}", _share(load.busy), _time(load.wait), _share(useful)))
    columns = ("share of that number", "workers", "pulls/s", "process busy", "mean wait", "workers training")
    show_table(f"Around that number, {name}, median pull {_time(median)} (simulated)", columns, lines)


def show_regrets(workers: Sequence[int], trainings: int, seeds: int, each: int) -> None:
    """Measure the regret by the number of workers."""
    problems = chosen_problems(FAMILIES, each)
    regrets = {name: all_regrets(found, workers, trainings, seeds) for name, found in problems.items()}
    regrets["all problems"] = np.concatenate(list(regrets.values()), axis=1)
    lines = []
    for name, found in regrets.items():
        first, *others = losses(found)
        lost = (f"{loss.lost:+.2f} ± {loss.error:.2f}" for loss in others)
        lines.append((name, f"{found.shape[1]}", f"{first.regret:.2f}", *lost))
    columns = ("family", "problems", f"regret, {workers[0]} worker", *(f"lost with {n}" for n in workers[1:]))
    note = "Regret: 0 is the best configuration, 100 a median random one. ±: standard error over seeds."
    title = f"Regret of AdaptiveMutantUCB after {trainings} full trainings, {seeds} seeds (measured)"
    show_table(title, columns, lines, note)
    lost_most = losses(regrets["all problems"])[workers.index(TARGET_WORKERS)].lost
    row = Row(f"points of regret lost with {TARGET_WORKERS} workers", target=AtMost(TARGET, lost_most, "points"))
    show("Regret", "no peer", [row], seeds)


def _time(seconds: float) -> str:
    for limit, factor, unit in ((1e-3, 1e6, "µs"), (1.0, 1e3, "ms"), (100.0, 1.0, "s")):
        if seconds < limit:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds:,.0f} s"


def _share(share: float) -> str:
    return f"{100 * share:.3g}%"


def _rounded(value: float) -> int:
    """Two significant digits: the costs are not known more precisely."""
    return int(float(f"{value:.2g}"))


def main() -> None:
    arguments = parser(__doc__)
    arguments.add_argument(
        "--submit", type=float, default=0.0, help="milliseconds that a cluster adds to each pull (default 0)"
    )
    arguments.add_argument("--sizes", type=int, nargs="+", help="pulls at which costs are measured (default 1,000 to 100,000)")
    arguments.add_argument("--trainings", type=int, help="budget of the regrets (default 100; 50 with --quick)")
    arguments.add_argument("--seeds", type=int, help="searches of each problem (default 4; 2 with --quick)")
    arguments.add_argument("--problems", type=int, help="problems of each family (default 2; 1 with --quick)")
    arguments.add_argument("--part", choices=("costs", "regret"), help="only this part; both by default")
    options = arguments.parse_args()
    quick = options.quick
    print(machine())
    if options.part != "regret":
        last = show_pull_costs(options.sizes or ([1_000, 3_000] if quick else SIZES), 1_000 if quick else 10_000)
        with tempfile.TemporaryDirectory() as name, running_server() as make_database:
            appends = show_appends(Path(name), make_database(), repeats=5 if quick else 20)
            sending = show_runner(Path(name), (4,) if quick else (4, 16, 64), pulls=500 if quick else 2_000)
        extra = options.submit / 1e3
        costs = {
            f"{strategy}, {storage}": ProcessCost(cost.deciding + sending / 2 + extra, cost.study + sending / 2, times)
            for strategy, cost in last.items()
            for storage, times in appends.items()
        }
        show_waits(costs, pulls=5_000 if quick else 20_000)
        show_saturation(costs, pulls=5_000 if quick else 20_000)
    if options.part != "costs":
        trainings = options.trainings or (50 if quick else 100)
        seeds = options.seeds or (2 if quick else 4)
        show_regrets((1, 8, 64) if quick else (1, 8, 64, 256), trainings, seeds, options.problems or (1 if quick else 2))


if __name__ == "__main__":
    main()
