"""`AutoClassifier` beside other searches and AutoML on 33 classification sets from UCI, all with the same time.

    python benchmarks/uci.py run --seconds 60 --cores 2 --out uci.csv
    python benchmarks/uci.py table uci.csv > table.md

A run is one method on one of five outer splits of a set, in a process of its own; the seconds are of the clock and are for
all it does until it can predict, with the refit of the model it chooses. One that is not done after twice the time and 30
seconds is ended and gets the accuracy of the commonest class. Heats run set by set, split by split, all methods on one before
the next, so that a busy machine troubles all of them alike. Each is written when it is over: run again, it goes on.

RandomizedSearchCV, HalvingRandomSearchCV and Optuna search the families, spaces and folds of `AutoClassifier`. They cannot be
stopped by the clock, so they are asked for one candidate after the other, or for one halving after the other, each of twice the
candidates, and stopped when what is left is needed to fit the best so far on all rows. What is under way then is given up.
FLAML keeps to its own time limit. LightGBM and the random forest are fitted once, as they come.

The sets are in `uci/` of the folder that MANYARMS_DATA names, or of ../shared/data.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from pathlib import Path

from uci_race import runs, sets
from uci_race.methods import METHODS
from uci_race.results import Results, Run, read
from uci_race.standings import Standings, page

from manyarms import ManyarmsError

OURS = ("ours", "single")


def run(options: argparse.Namespace) -> None:
    chosen = sets.check(options.sets or sets.names())
    wanted = [Run(name, split, e) for name in chosen for split in range(options.splits) for e in options.methods]
    with Results(options.out, options.seconds, options.cores) as results:
        missing = results.missing(wanted, options.retry)
        hours = sum(METHODS[run.method].timed for run in missing) * options.seconds / options.at_once / 3600
        print(f"{len(missing)} of {len(wanted)} runs to run, about {hours:.1f} hours", file=sys.stderr)
        for number, result in enumerate(runs.race(missing, options.seconds, options.cores, options.at_once), 1):
            results.append(result)
            failed = "" if result.status == "ok" else "FAILED "
            print(
                f"{number:5}/{len(missing)} {result.set:18} {result.split} {result.method:9} {result.accuracy:.4f} "
                f"{result.seconds:6.1f} s {failed}{result.note}",
                file=sys.stderr,
                flush=True,
            )


def table(options: argparse.Namespace) -> None:
    titles = {name: method.title for name, method in METHODS.items()}
    print(page(Standings.of(read(options.file), list(METHODS)), titles, OURS), end="")


def positive(kind: Callable[[str], float]) -> Callable[[str], float]:
    def read_number(text: str) -> float:
        if (number := kind(text)) > 0:
            return number
        raise argparse.ArgumentTypeError(f"must be above 0, got {text}")

    return read_number


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True, metavar="run | table")
    running = commands.add_parser("run", help="run the runs that a file does not hold yet")
    running.add_argument("--seconds", type=positive(float), default=60, help="that each method gets (default 60)")
    running.add_argument("--cores", type=positive(int), default=1, help="that each method gets (default 1)")
    running.add_argument("--at-once", type=positive(int), default=1, help="runs that run side by side (default 1)")
    running.add_argument("--out", type=Path, default=Path("uci.csv"), help="file of results (default uci.csv)")
    running.add_argument("--sets", nargs="+", help="names of sets (default all)")
    running.add_argument("--splits", type=int, default=sets.SPLITS, choices=range(1, sets.SPLITS + 1), help="the first so many")
    running.add_argument("--methods", nargs="+", default=list(METHODS), choices=METHODS, help="names (default all)")
    running.add_argument("--retry", action="store_true", help="also run again what failed")
    running.set_defaults(command=run)
    showing = commands.add_parser("table", help="the table of a file of results, as Markdown")
    showing.add_argument("file", type=Path)
    showing.set_defaults(command=table)
    return parser.parse_args()


def main() -> None:
    options = arguments()
    try:
        options.command(options)
    except (ManyarmsError, RuntimeError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr, flush=True)
        os._exit(1)  # without waiting for runs that are still running: they end with this process
    except KeyboardInterrupt:
        print("stopped; run it again to go on", file=sys.stderr)
        os._exit(130)


if __name__ == "__main__":
    main()
