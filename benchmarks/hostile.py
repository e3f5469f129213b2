"""Attacks stored studies: kills, bit flips, cut and frozen connections, crafted files. Prints attempts and failures.

A failure is a study that lost or changed something without saying so, that could not be resumed, that crashed with an error of
somebody else's, or that touched a file that is not its own. Optuna is attacked in the same way where it can be.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path

import optuna
from report import parser
from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))  # database outages and checksums

from attacks.connections import connections
from attacks.files import crafted_files
from attacks.flips import flips
from attacks.kills import fit_kills, kills
from attacks.score import Score

COUNTS = {"kills": (500, 30), "fits": (40, 2), "flips": (500, 30), "connections": (80, 8), "files": (130, 13)}
"""How often each attack is tried, and how often with --quick."""


def attacks(options: argparse.Namespace, directory: Path, rng: random.Random) -> Iterator[Score]:
    yield from kills(options.kills - options.fits, directory, rng)
    yield fit_kills(options.fits, directory, rng)
    yield from flips(options.flips, directory, rng)
    yield connections(options.connections, directory, rng)
    yield crafted_files(options.files, directory, rng)


def main() -> None:
    arguments = parser(__doc__)
    told = {
        "kills": "kills in total",
        "fits": "of these, inside manyarms fit",
        "flips": "bit flips",
        "connections": "lost connections",
    }
    for name, (full, quick) in COUNTS.items():
        what = told.get(name, "crafted studies")
        arguments.add_argument(f"--{name}", type=int, help=f"{what} (default {full}; {quick} with --quick)")
    arguments.add_argument("--seed", type=int, default=0, help="of the moments and places (default 0)")
    options = arguments.parse_args()
    for name, counts in COUNTS.items():
        if getattr(options, name) is None:
            setattr(options, name, counts[options.quick])
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    warnings.simplefilter("ignore")
    table = Table("attack", "attempts", "failures", "Optuna")
    failed = 0
    with tempfile.TemporaryDirectory() as directory:
        for score in attacks(options, Path(directory), random.Random(options.seed)):
            table.add_row(score.attack, str(score.attempts), str(len(score.failures)), score.peer)
            print(f"{score.attack}: {score.attempts} attempts, {len(score.failures)} failures", file=sys.stderr, flush=True)
            for failure in score.failures[:5]:
                print(f"  {failure}", file=sys.stderr)
            failed += len(score.failures)
    Console(width=None if sys.stdout.isatty() else 140).print(table)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
