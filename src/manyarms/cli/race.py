"""`race`: our strategies and other libraries on the same problems, and the tables and plots of what came of it."""

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
from .terminal import say

if TYPE_CHECKING:
    import pandas as pd

    from ..bench.race.heats import Heat, Key
    from ..bench.race.sheets import Sheet
    from ..bench.race.workers import Finished

_SEEDS, _BUDGET = 3, 200

_RACE = """examples:
  manyarms race --list
  manyarms race --problems "fast curves" LCBench --peers none --seeds 2 --budget 50
  manyarms race --peers "Optuna TPE" SMAC3 --plots plots --workers 4
  manyarms race --again AdaptiveMutantUCB
  manyarms race --report --half reported --markdown tables.md

Everybody pays for each step of training once, also where a config is trained on or again. Results go to one Parquet
file as they come: run the same line again after any interruption, or with more seeds, problems or peers, and only what
is missing runs."""


def add_commands(commands: Any) -> None:
    """Add `race`."""
    race = commands.add_parser(
        "race",
        help="let our strategies and other libraries race on test problems",
        epilog=_RACE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    race.add_argument("--problems", nargs="+", metavar="FAMILY", help="families of problems (default: all that can be had)")
    race.add_argument(
        "--half",
        choices=("all", "tuned", "reported"),
        default="all",
        help="only the half of the problems to tune on, or to report on",
    )
    race.add_argument("--strategies", nargs="+", metavar="NAME", help='ours; "none" for none (default: all)')
    race.add_argument("--peers", nargs="+", metavar="NAME", help='others; "none" for none (default: all that are installed)')
    race.add_argument("--seeds", type=int, metavar="N", help=f"how often each runs on each problem (default: {_SEEDS})")
    race.add_argument("--budget", type=int, metavar="N", help=f"full trainings that each may spend (default: {_BUDGET})")
    race.add_argument(
        "--patience", type=float, default=300, metavar="SECONDS", help="stop who decides longer in one run (default: 300)"
    )
    race.add_argument("--workers", type=int, metavar="N", help="processes (default: as many as there are cores)")
    race.add_argument("--out", default="race.parquet", metavar="FILE", help="of the results (default: %(default)s)")
    race.add_argument("--again", nargs="+", default=[], metavar="NAME", help="forget what these did, and run them anew")
    race.add_argument("--report", action="store_true", help="run nothing: tables and plots of what is in the file")
    race.add_argument("--plots", metavar="FOLDER", help="draw anytime curves and critical differences into this folder")
    race.add_argument("--markdown", metavar="FILE", help="write the tables as Markdown too")
    race.add_argument("--list", action="store_true", help="only list families, problems, strategies and peers")
    race.add_argument("--quiet", action="store_true", help="show no progress and no notes")
    race.set_defaults(command=_race)


def _race(options: argparse.Namespace) -> int:
    if not all(importlib.util.find_spec(name) for name in ("pandas", "pyarrow", "matplotlib")):
        raise ImportError('the race needs pandas, pyarrow and matplotlib: pip install "manyarms[race]"')
    if options.list:
        return _list()
    return _report(options) if options.report else _run(options)


def _list() -> int:
    from ..bench.race.listing import entrant_list, family_list

    _show(family_list())
    _show(entrant_list())
    return 0


def _report(options: argparse.Namespace) -> int:
    from ..bench.race.results import frame, read
    from ..bench.race.selection import selected

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
        raise ValueError(f"{options.out!r} holds no heat of this kind: `manyarms race --report` alone shows all it holds")
    _publish(rows, options)
    return 0


def _run(options: argparse.Namespace) -> int:
    from ..bench.race.heats import key, plan
    from ..bench.race.selection import chosen_entrants, chosen_families, matched

    seeds = checks.whole("--seeds", _SEEDS if options.seeds is None else options.seeds, 1)
    budget = checks.whole("--budget", _BUDGET if options.budget is None else options.budget, 1)
    workers = _cores() if options.workers is None else checks.whole("--workers", options.workers, 1)
    patience = checks.positive("--patience", options.patience)
    entrants, absent = chosen_entrants(options.strategies, options.peers)
    again = matched("--again", options.again, [entrant.name for entrant in entrants])
    numbers, unavailable = chosen_families(options.problems, options.half)
    versions = {entrant.name: entrant.version for entrant in entrants}
    heats = {key(heat, versions[heat.entrant]): heat for heat in plan(numbers, entrants, seeds, budget)}
    if not heats:
        raise ValueError("nobody races on nothing: choose other --problems, --half, --strategies or --peers")
    if not options.quiet:
        for note in absent + unavailable:
            say(note)
    return _compete(heats, again, workers, patience, options)


def _compete(heats: dict[Key, Heat], again: list[str], workers: int, patience: float, options: argparse.Namespace) -> int:
    """Run the heats that are not in the file, then tell of all of them."""
    from ..bench.race.heats import run_heat
    from ..bench.race.progress import HeatProgress
    from ..bench.race.results import Results, of_heats
    from ..bench.race.running import run_heats

    began = time.monotonic()
    failed: list[Finished] = []
    with Results(Path(options.out)) as results:
        try:
            results.drop({name for name, heat in heats.items() if heat.entrant in again})
            there = results.keys()
            missing = [heat for name, heat in heats.items() if name not in there]
            with HeatProgress(len(heats), len(heats) - len(missing), not options.quiet) as progress:
                run = functools.partial(run_heat, patience=patience)
                for finished in run_heats(missing, results, run, workers):
                    progress.tell(finished)
                    failed += [finished] if finished.reason is not None else []
        except KeyboardInterrupt:
            kept = len(heats.keys() & results.keys())
            print(
                f"\nStopped: {kept} of {len(heats)} heats are kept in {options.out}. Run the same line again: it goes on.",
                file=sys.stderr,
            )
            return 130
        rows = of_heats(results.table(), heats.keys())
    if not rows.empty:
        _publish(rows, options)
    if not options.quiet:
        done, new, took = len(heats) - len(failed), len(missing) - len(failed), time.monotonic() - began
        print(f"{options.out}: {done} heats, {new} of them new, in {took:.1f} seconds", file=sys.stderr)
    _complain(failed)
    return 1 if failed else 0


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _complain(failed: list[Finished]) -> None:
    """Say what failed, in a line for each entrant and reason."""
    kinds = [(finished.heat.entrant, finished.reason) for finished in failed]
    counts = Counter(kinds)
    first: dict[tuple[str, str | None], Heat] = {}
    for kind, finished in zip(kinds, failed, strict=True):
        first.setdefault(kind, finished.heat)
    for kind, heat in first.items():
        more = f" (and {counts[kind] - 1} more like it)" if counts[kind] > 1 else ""
        say(f"{heat} failed: {kind[1]}{more}")
    if failed:
        say("run the same line again to try again what failed")


def _publish(rows: pd.DataFrame, options: argparse.Namespace) -> None:
    """Print the tables; write and draw what is asked for."""
    from ..bench.race.tables import tables

    sheets = list(tables(rows))
    for sheet in sheets:
        _show(sheet)
    if options.markdown is not None:
        Path(options.markdown).write_text("\n".join(sheet.markdown() for sheet in sheets), encoding="utf-8")
    if options.plots is not None:
        from ..bench.race.plots import save_plots

        for path in save_plots(rows, Path(options.plots)):
            if not options.quiet:
                print(path, file=sys.stderr)


def _show(sheet: Sheet) -> None:
    """Print a table; where output is not a terminal, as wide as it needs to be."""
    from rich.console import Console

    console = Console()
    if not console.is_terminal:
        console = Console(width=1000)
    with console.capture() as drawn:
        console.print(sheet.rich())
    print("\n".join(line.rstrip() for line in drawn.get().rstrip().splitlines()) + "\n")
