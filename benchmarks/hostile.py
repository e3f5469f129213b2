"""Attacks stored studies: kills, bit flips, cut and frozen connections, crafted files. Prints attempts and failures.

A failure is a study that lost or changed something without saying so, that could not be resumed, that crashed with an error of
somebody else's, or that touched a file that is not its own. Optuna is attacked in the same way where it can be.
"""

from __future__ import annotations

import random
import sys
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path

import optuna
from attacks.flips import flips
from attacks.kills import fit_kills, kills
from attacks.score import Score
from report import parser
from rich.console import Console
from rich.table import Table


def attacks(options: object, directory: Path, rng: random.Random) -> Iterator[Score]:
    n_kills, n_flips, n_fits = options.kills, options.flips, options.fits  # type: ignore[attr-defined]
    yield from kills(n_kills - n_fits, directory, rng)
    yield fit_kills(n_fits, directory, rng)
    yield from flips(n_flips, directory, rng)


def main() -> None:
    arguments = parser(__doc__)
    arguments.add_argument("--kills", type=int, help="in total (default 500; 30 with --quick)")
    arguments.add_argument("--fits", type=int, help="of these, inside manyarms fit (default 40; 2 with --quick)")
    arguments.add_argument("--flips", type=int, help="in total (default 500; 30 with --quick)")
    arguments.add_argument("--seed", type=int, default=0, help="of the moments and places (default 0)")
    options = arguments.parse_args()
    for name, full, quick in (("kills", 500, 30), ("fits", 40, 2), ("flips", 500, 30)):
        if getattr(options, name) is None:
            setattr(options, name, quick if options.quick else full)
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
