"""`run`: search with a function from a script."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from ..checkpoints.location import absolute
from ..strategies import DEFAULT_STRATEGY
from .run_options import add_run_options, search, steps_or_time
from .studies import DEFAULT, default_storage

_EXAMPLES = """examples:
  manyarms run train.py:train --budget 500 --max-steps 10
  manyarms run train.py:train --budget 2h --workers 4 --storage digits.db --set exploration=0.01

The script defines a function train(pull), and a Space or a dict named `space`.
To continue after an interruption, run the same command again. To extend the search, run it with a larger budget."""


def add_command(commands: Any) -> None:
    """Add `run`."""
    run = commands.add_parser(
        "run",
        help="search with a function from a script",
        description="Search for the best configuration with a training function from a script.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    run.add_argument("target", help="the training function: script.py:function or package.module:function")
    run.add_argument("--budget", required=True, help='total over all runs: steps such as 500, or training time such as "2h"')
    run.add_argument("--space", default="space", metavar="NAME", help="name of the space in the script (default: %(default)s)")
    run.add_argument(
        "--max-steps", type=int, metavar="N", help="maximum steps of one arm (default: 1; each pull is a complete training)"
    )
    run.add_argument(
        "--strategy",
        default=DEFAULT_STRATEGY,
        metavar="NAME",
        help="the strategy, such as asha or random (default: %(default)s)",
    )
    run.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", help="set an option of the strategy; may be repeated"
    )
    run.add_argument(
        "--direction",
        choices=("maximize", "minimize"),
        default="maximize",
        help="maximize or minimize the reward (default: %(default)s)",
    )
    run.add_argument("--storage", default=default_storage(), help=f"file or URL of the storage {DEFAULT}")
    run.add_argument("--name", help="name of the study (default: the name of the function)")
    run.add_argument(
        "--checkpoints",
        metavar="PLACE",
        help="directory or URL, such as s3://bucket/runs, for saved models (default: next to the storage)",
    )
    run.add_argument(
        "--seed", type=int, metavar="N", help="random seed; the same seed gives the same search (default: drawn at random)"
    )
    add_run_options(run)
    run.set_defaults(command=_run)


def _run(options: argparse.Namespace) -> int:
    path, _, function = options.target.rpartition(":")
    if not path or options.target.endswith(".py"):
        raise ValueError(f"target must be script.py:function or package.module:function, got {options.target!r}")
    _check_given_once(options)
    origin = {
        "target": f"{Path(path).absolute()}:{function}" if path.endswith(".py") else options.target,
        "space": options.space,
        "max_steps": options.max_steps,
        "strategy": options.strategy,
        "set": options.set,
        "direction": options.direction,
        "budget": options.budget,
        "checkpoints": None if options.checkpoints is None else absolute(options.checkpoints),
        "seed": options.seed,
    }
    return search(origin, steps_or_time(options.budget), options, options.name or function)


def _check_given_once(options: argparse.Namespace) -> None:
    """Reject a setting that is given twice, because it is unclear which one counts."""
    names = [pair.partition("=")[0] for pair in options.set]
    for name, pair in zip(names, options.set, strict=True):
        if names.count(name) > 1:
            raise ValueError(f"--set must give {name} once, got it {names.count(name)} times")
        if name in ("budget", "max_steps", "seed") and (given := getattr(options, name)) is not None:
            raise ValueError(f"{name} must be given once, got --{name.replace('_', '-')} {given} and --set {pair}")
