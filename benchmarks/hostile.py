"""Attacks stored studies with kills, bit flips, lost connections and crafted files, and counts attempts and failures.

A failure is a study that lost or changed data without reporting it, that could not be resumed, that crashed with an unexpected
error, or that touched a file outside of its own directories. Where possible, Optuna is attacked in the same way.
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

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))  # database outages and checksums

from attacks.connections import connections
from attacks.files import crafted_files
from attacks.flips import flips
from attacks.kills import fit_kills, kills
from attacks.score import Score, show

COUNTS = {"kills": (500, 30), "fits": (40, 2), "flips": (500, 30), "connections": (80, 8), "files": (130, 13)}
"""Number of attempts of each attack, without and with --quick."""


def attacks(options: argparse.Namespace, directory: Path, rng: random.Random) -> Iterator[Score]:
    yield from kills(options.kills - options.fits, directory, rng)
    yield fit_kills(options.fits, directory, rng)
    yield from flips(options.flips, directory, rng)
    yield connections(options.connections, directory, rng)
    yield crafted_files(options.files, directory, rng)


def main() -> None:
    arguments = parser(__doc__)
    meanings = {
        "kills": "number of kills in total",
        "fits": "number of kills inside manyarms fit",
        "flips": "number of bit flips",
        "connections": "number of lost connections",
    }
    for name, (full, quick) in COUNTS.items():
        what = meanings.get(name, "number of crafted studies")
        arguments.add_argument(f"--{name}", type=int, help=f"{what} (default: {full}, or {quick} with --quick)")
    arguments.add_argument("--seed", type=int, default=0, help="random seed (default: %(default)s)")
    options = arguments.parse_args()
    for name, counts in COUNTS.items():
        if getattr(options, name) is None:
            setattr(options, name, counts[options.quick])
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as directory:
        sys.exit(show(attacks(options, Path(directory), random.Random(options.seed))))


if __name__ == "__main__":
    main()
