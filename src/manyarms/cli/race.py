"""`race`: compare the strategies of manyarms with other libraries on test problems."""

from __future__ import annotations

import argparse
import functools
import importlib.util
import os
import sys
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import checks
from .terminal import print_note

if TYPE_CHECKING:
    import pandas as pd

    from ..bench.race.runs import Run
    from ..bench.race.text_table import TextTable
    from ..bench.runs.execute import Ended
    from ..bench.runs.results import Key

_SEEDS, _BUDGET = 3, 200

_EPILOG = """examples:
  manyarms race --list
  manyarms race --problems "fast curves" LCBench --peers none --seeds 2 --budget 50
  manyarms race --peers "Optuna TPE" SMAC3 --plots plots --workers 4
  manyarms race --again AdaptiveMutantUCB
  manyarms race --report --half reported --markdown tables.md

Each step of training is charged once, even if a method trains a configuration again from scratch. Results are stored in
one Parquet file as runs finish. To resume after an interruption, or to add seeds, problems or peers, run the command
again: only missing runs are executed."""


def add_command(commands: Any) -> None:
    """Add `race`."""
    race = commands.add_parser(
        "race",
        help="compare strategies with other libraries on test problems",
        description="Compare the strategies of manyarms with other libraries on test problems.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    race.add_argument("--problems", nargs="+", metavar="FAMILY", help="families of problems (default: all that are available)")
    race.add_argument(
        "--half",
        choices=("all", "tuned", "reported"),
        default="all",
        help="use only the problems for tuning settings, or only those for reporting results (default: %(default)s)",
    )
    race.add_argument("--quick", action="store_true", help="use only a few problems of each family")
    race.add_argument("--strategies", nargs="+", metavar="NAME", help='strategies of manyarms, or "none" (default: all)')
    race.add_argument("--peers", nargs="+", metavar="NAME", help='other libraries, or "none" (default: all that are installed)')
    race.add_argument(
        "--seeds", type=int, metavar="N", help=f"number of runs of each method on each problem (default: {_SEEDS})"
    )
    race.add_argument("--budget", type=int, metavar="N", help=f"number of full trainings in each run (default: {_BUDGET})")
    race.add_argument(
        "--patience",
        type=float,
        default=300,
        metavar="SECONDS",
        help="stop a run after this much CPU time spent deciding (default: %(default)s)",
    )
    race.add_argument("--workers", type=int, metavar="N", help="number of processes (default: the number of cores)")
    race.add_argument("--out", default="race.parquet", metavar="FILE", help="result file (default: %(default)s)")
    race.add_argument(
        "--again", nargs="+", default=[], metavar="NAME", help="delete the results of these methods, and run them again"
    )
    race.add_argument("--report", action="store_true", help="run nothing; show tables and plots of the results in the file")
    race.add_argument("--plots", metavar="FOLDER", help="save plots of regret and critical differences in this folder")
    race.add_argument("--markdown", metavar="FILE", help="also write the tables to this file as Markdown")
    race.add_argument("--list", action="store_true", help="list families, problems, strategies and peers, and exit")
    race.add_argument("--quiet", action="store_true", help="show no progress and no notes")
    race.set_defaults(command=_race)


def _race(options: argparse.Namespace) -> int:
    if not all(importlib.util.find_spec(name) for name in ("pandas", "pyarrow", "matplotlib", "scikit_posthocs")):
        raise ImportError('manyarms race needs more packages: pip install "manyarms[race]"')
    if options.list:
        return _list()
    if options.markdown is not None and not Path(options.markdown).parent.is_dir():  # found before a race of many hours
        raise ValueError(f"--markdown must be a file in an existing directory, got {options.markdown!r}")
    return _report(options) if options.report else _run(options)


def _list() -> int:
    from ..bench.race.listing import family_list, method_list

    _print(family_list())
    _print(method_list())
    return 0


def _report(options: argparse.Namespace) -> int:
    from ..bench.race.results import read
    from ..bench.race.selection import selected
    from ..bench.runs.results import frame

    rows = selected(
        frame(read(Path(options.out))),
        families=options.problems,
        half=options.half,
        ours=options.strategies,
        peers=options.peers,
        seeds=options.seeds,
        budget=options.budget,
    )
    if rows.empty:
        raise ValueError(f"{options.out!r} has no matching runs. To see all its runs: manyarms race --report")
    _show_results(rows, options)
    return 0


def _run(options: argparse.Namespace) -> int:
    from ..bench.race.runs import plan
    from ..bench.race.selection import chosen_families, chosen_methods, matched

    seeds = checks.whole("--seeds", _SEEDS if options.seeds is None else options.seeds, 1)
    budget = checks.whole("--budget", _BUDGET if options.budget is None else options.budget, 1)
    checks.positive("--patience", options.patience)
    if options.workers is not None:
        checks.whole("--workers", options.workers, 1)
    methods, not_installed = chosen_methods(options.strategies, options.peers)
    again = matched("--again", options.again, [method.name for method in methods])
    numbers, not_available = chosen_families(options.problems, options.half, options.quick)
    versions = {method.name: method.version for method in methods}
    runs = {run.key(versions[run.method]): run for run in plan(numbers, methods, seeds, budget)}
    if not runs:
        raise ValueError("Nothing to run. Choose other --problems, --half, --strategies or --peers.")
    if not options.quiet:
        for note in not_installed + not_available:
            print_note(note)
    return _execute(runs, again, options)


def _execute(runs: dict[Key, Run], again: list[str], options: argparse.Namespace) -> int:
    """Execute the runs that are not in the file, then show the results of all."""
    from ..bench.race.results import LAYOUT
    from ..bench.race.runs import duration_group, execute_run
    from ..bench.runs.execute import execute
    from ..bench.runs.pool import Pool
    from ..bench.runs.progress import RunProgress
    from ..bench.runs.results import Results

    began = time.monotonic()
    failed: list[Ended[Run]] = []
    pool = Pool(functools.partial(execute_run, patience=options.patience), options.workers or _cores())
    with Results(Path(options.out), LAYOUT) as results:
        try:
            results.drop({key for key, run in runs.items() if run.method in again})
            stored = results.keys()
            missing = [run for key, run in runs.items() if key not in stored]
            with RunProgress(len(runs), len(runs) - len(missing), not options.quiet) as progress:
                for finished in execute(missing, results, pool, duration_group):
                    progress.count(finished)
                    failed += [finished] if finished.reason is not None else []
        except KeyboardInterrupt:
            done = len(runs.keys() & results.keys())
            print(
                f"\nInterrupted. {done} of {len(runs)} runs are stored in {options.out}. Run the same command again to resume.",
                file=sys.stderr,
            )
            return 130
        rows = LAYOUT.rows_of(results.table(), runs.keys())
    if not rows.empty:
        _show_results(rows, options)
    if not options.quiet:
        done, new, seconds = len(runs) - len(failed), len(missing) - len(failed), time.monotonic() - began
        print(f"{options.out}: {done} runs, {new} of them new, in {seconds:.1f} seconds", file=sys.stderr)
    _report_failures(failed)
    return 1 if failed else 0


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _report_failures(failed: list[Ended[Run]]) -> None:
    """Print one line for each method and reason."""
    kinds = [(finished.run.method, finished.reason) for finished in failed]
    counts = Counter(kinds)
    first: dict[tuple[str, str | None], Run] = {}
    for kind, finished in zip(kinds, failed, strict=True):
        first.setdefault(kind, finished.run)
    for kind, run in first.items():
        more = f" (and {counts[kind] - 1} more like it)" if counts[kind] > 1 else ""
        print_note(f"{run} failed: {kind[1]}{more}")
    if failed:
        print_note("Run the same command again to retry failed runs.")


def _show_results(rows: pd.DataFrame, options: argparse.Namespace) -> None:
    """Print the tables, and write the Markdown and the plots that were asked for."""
    from ..bench.race.tables import tables

    shown = list(tables(rows))
    for table in shown:
        _print(table)
    if options.markdown is not None:
        Path(options.markdown).write_text("\n".join(table.markdown() for table in shown), encoding="utf-8")
    if options.plots is not None:
        from ..bench.race.plots import save_plots

        for path in save_plots(rows, Path(options.plots)):
            if not options.quiet:
                print(path, file=sys.stderr)


def _print(table: TextTable) -> None:
    """Print a table. If the output is not a terminal, lines are as long as necessary."""
    from rich.console import Console

    console = Console()
    if not console.is_terminal:
        console = Console(width=1000)
    with console.capture() as drawn:
        console.print(table.rich())
    print("\n".join(line.rstrip() for line in drawn.get().rstrip().splitlines()) + "\n")
