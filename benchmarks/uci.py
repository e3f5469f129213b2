"""Compares `AutoClassifier` with other searches and AutoML libraries on 33 UCI classification datasets, with equal time.

    python benchmarks/uci.py run --seconds 60 --cores 2 --out uci.parquet
    python benchmarks/uci.py table uci.parquet > table.md

A run is one method on one of five outer splits of a dataset, in its own process. The time limit is wall-clock time and covers
everything until the method can predict, including the refit of the chosen model. A run that takes more than twice the limit
plus 30 seconds is killed and gets the accuracy of the most frequent class. All methods run on one split before the next split
starts, so that a busy machine affects all of them alike. Each result is stored when its run ends. To resume, run the command
again.

RandomizedSearchCV, HalvingRandomSearchCV and Optuna search the model families, spaces and folds of `AutoClassifier`. They have
no time limit of their own. So they evaluate one candidate (or one halving, each with twice as many candidates) after another,
until the remaining time is needed to refit the best candidate. Unfinished candidates are discarded. FLAML uses its own time
limit. LightGBM and the random forest are fitted once with their default settings.

The datasets are read from `uci/` in the data directory: MANYARMS_DATA, or the user's data directory.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

from uci_race import datasets
from uci_race.methods import METHODS
from uci_race.results import LAYOUT, Run
from uci_race.runs import execute_runs
from uci_race.standings import Standings, page

from manyarms import ManyarmsError
from manyarms.bench.runs.results import Results, frame, read

OURS = ("ours", "single")


def run(options: argparse.Namespace) -> None:
    chosen = datasets.check(options.datasets or datasets.names())
    wanted = [Run(name, split, method) for name in chosen for split in range(options.splits) for method in options.methods]
    with Results(options.out, LAYOUT, {"limit": options.seconds, "cores": options.cores}) as results:
        if options.retry:
            failed = frame(results.table()).query("status == 'failed'")
            results.drop(set(zip(failed["dataset"], failed["split"], failed["method"], strict=True)))
        stored = results.keys()
        missing = [one for one in wanted if one.key not in stored]
        hours = sum(METHODS[one.method].timed for one in missing) * options.seconds / options.workers / 3600
        print(f"{len(missing)} of {len(wanted)} runs to execute, about {hours:.1f} hours", file=sys.stderr)
        executed = execute_runs(missing, results, options.seconds, options.cores, options.workers)
        for number, (one, row) in enumerate(executed, 1):
            failed_word = "" if row["status"] == "ok" else "FAILED "
            print(
                f"{number:5}/{len(missing)} {one.dataset:18} {one.split} {one.method:9} {row['accuracy']:.4f} "
                f"{row['seconds']:6.1f} s {failed_word}{row['note']}",
                file=sys.stderr,
                flush=True,
            )


def table(options: argparse.Namespace) -> None:
    titles = {name: method.title for name, method in METHODS.items()}
    print(page(Standings.of(frame(read(options.file, LAYOUT)), list(METHODS)), titles, OURS), end="")


def positive(kind: Callable[[str], float]) -> Callable[[str], float]:
    def read_number(text: str) -> float:
        if (number := kind(text)) > 0:
            return number
        raise argparse.ArgumentTypeError(f"must be above 0, got {text}")

    return read_number


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True, metavar="run | table")
    running = commands.add_parser("run", help="execute the runs that are missing in the result file")
    running.add_argument("--seconds", type=positive(float), default=60, help="time limit of a method (default: 60)")
    running.add_argument("--cores", type=positive(int), default=1, help="cores for each method (default: 1)")
    running.add_argument("--workers", type=positive(int), default=1, help="number of runs at the same time (default: 1)")
    running.add_argument("--out", type=Path, default=Path("uci.parquet"), help="result file (default: uci.parquet)")
    running.add_argument("--datasets", nargs="+", help="names of datasets (default: all)")
    splits = range(1, datasets.SPLITS + 1)
    running.add_argument("--splits", type=int, default=datasets.SPLITS, choices=splits, help="number of splits (default: all)")
    running.add_argument("--methods", nargs="+", default=list(METHODS), choices=METHODS, help="names of methods (default: all)")
    running.add_argument("--retry", action="store_true", help="also repeat failed runs")
    running.set_defaults(command=run)
    showing = commands.add_parser("table", help="print the tables of a result file as Markdown")
    showing.add_argument("file", type=Path)
    showing.set_defaults(command=table)
    return parser.parse_args()


def main() -> None:
    options = arguments()
    try:
        options.command(options)
    except (ManyarmsError, ImportError, ValueError) as error:
        raise SystemExit(f"error: {error}") from None
    except KeyboardInterrupt:
        print("Interrupted. Run the same command again to resume.", file=sys.stderr)
        raise SystemExit(130) from None


if __name__ == "__main__":
    main()
