"""Runs a search from the command line: shared by `run` and `resume`."""

from __future__ import annotations

import argparse
import ast
import inspect
from collections.abc import Mapping
from typing import Any

from ..budget import Budget
from ..strategies import strategy_class
from ..study.arguments import ALL
from ..study.tuning import tune
from .script import load_module, member
from .status import print_result
from .terminal import print_note

_UNITS = {"steps": "steps", "seconds": "s of training", "cost": "units of cost"}


def add_run_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that may differ each time a search is run."""
    parser.add_argument(
        "--workers",
        type=_workers,
        metavar="N",
        help='number of pulls that run in parallel, or "all" (default: 1; with --runner, all workers of the cluster)',
    )
    parser.add_argument(
        "--runner",
        metavar="ENGINE",
        help='where pulls run: "dask", "dask://host:8786", "ray" or "ray://host:10001" (default: this machine)',
    )
    parser.add_argument(
        "--resources",
        action="append",
        default=[],
        metavar="NAME=AMOUNT",
        help="what each pull needs, such as gpu=1 or cpu=2; may be repeated",
    )
    parser.add_argument("--timeout", metavar="TIME", help='start no more pulls after this time, such as "8h"')
    parser.add_argument(
        "--pull-timeout",
        metavar="TIME",
        help='stop a pull after this time, such as "10m"; "remaining" stops it when the time of the search is up',
    )
    parser.add_argument(
        "--retries", type=int, default=0, metavar="N", help="maximum retries of a failed pull (default: %(default)s)"
    )
    parser.add_argument(
        "--deterministic", action="store_true", help="with several workers, the same seed gives the same search"
    )
    parser.add_argument(
        "--join",
        nargs="?",
        const=True,
        default=False,
        metavar="ADDRESS",
        help="share the search with other processes, on any machine, that run the same command with the same storage",
    )
    shown = parser.add_mutually_exclusive_group()
    shown.add_argument("--quiet", action="store_const", const=0, dest="verbose", default=1, help="show no progress")
    shown.add_argument("-v", "--verbose", action="store_const", const=2, dest="verbose", help="also show a line for each pull")


def search(origin: Mapping[str, Any], budget: int | str | Budget, options: argparse.Namespace, name: str) -> int:
    """Start or resume a search, and print its result. Returns the exit code.

    Args:
        origin: The arguments of `run`, which are stored with the study.
        budget: The total budget.
        options: The options of the command.
        name: The name of the study.
    """
    module = load_module(origin["target"].rpartition(":")[0])
    function = member(module, origin["target"].rpartition(":")[2])
    if not callable(function):
        raise ValueError(f"target must name a function, got {function!r}")
    kind = strategy_class(origin["strategy"])
    settings = _settings(origin["set"], kind)
    study = tune(
        function,
        member(module, origin["space"]),
        budget=budget,
        max_steps=origin["max_steps"],
        strategy=lambda space, **given: kind(space, **{**given, **settings}),
        storage=options.storage,
        name=name,
        checkpoints=origin["checkpoints"],
        direction=origin["direction"],
        seed=origin["seed"],
        origin=origin,
        workers=options.workers,
        runner=options.runner,
        join=options.join,
        resources=_resources(options.resources),
        timeout=_number_or_text(options.timeout),
        pull_timeout=_number_or_text(options.pull_timeout),
        retries=options.retries,
        deterministic=options.deterministic,
        verbose=options.verbose,
    )
    with study:
        print_result(study)
        if study.interrupted:
            print_note(f"Interrupted{_left(study.remaining)}. Run the same command again, or `manyarms resume`, to continue.")
        return 130 if study.interrupted else 0


def steps_or_time(budget: str) -> int | str:
    """A budget of steps such as 500, or of time such as "2h"."""
    try:
        return int(budget)
    except ValueError:
        return budget


def _left(remaining: Mapping[str, float]) -> str:
    """What is left of the budget, if it has a limit."""
    parts = [f"{amount:.6g} {_UNITS[name]}" for name, amount in remaining.items()]
    return f" with {' and '.join(parts)} left" if parts else ""


def _settings(pairs: list[str], kind: type) -> dict[str, Any]:
    """The settings given as NAME=VALUE. Values are Python literals, or else text."""
    settings = {}
    known = [name for name in inspect.signature(kind).parameters if name != "space"]
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals:
            raise ValueError(f"--set must be NAME=VALUE, got {pair!r}")
        if name not in known:
            raise ValueError(f"--set must name a setting of {kind.__name__} ({', '.join(known)}), got {name!r}")
        try:
            settings[name] = ast.literal_eval(value)
        except (ValueError, SyntaxError):
            settings[name] = value
    return settings


def _workers(text: str) -> int | str:
    """A number of workers, or "all"."""
    try:
        return text if text == ALL else int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f'must be a number or "{ALL}", got {text!r}') from None


def _resources(pairs: list[str]) -> dict[str, float] | None:
    """The resources given as NAME=AMOUNT."""
    resources = {}
    for pair in pairs:
        name, equals, amount = pair.partition("=")
        try:
            resources[name] = float(amount) if equals else float("nan")
        except ValueError:
            resources[name] = float("nan")
        if resources[name] != resources[name]:
            raise ValueError(f"--resources must be NAME=AMOUNT, such as gpu=1, got {pair!r}")
    return resources or None


def _number_or_text(value: str | None) -> float | str | None:
    try:
        return None if value is None else float(value)
    except ValueError:
        return value
