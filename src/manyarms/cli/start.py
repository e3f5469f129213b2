"""`run` and `resume`: start a search, and go on with one."""

from __future__ import annotations

import argparse
import ast
import importlib
import importlib.util
import inspect
import sys
import traceback
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import cloudpickle

from ..budget import Budget
from ..errors import ManyarmsError
from ..strategies import strategy_class
from ..study.tuning import tune
from .look import print_status
from .stored import DEFAULT, add_study, chosen_name, default_storage, stored_study
from .terminal import say

_RUN = """examples:
  manyarms run train.py:train --budget 500
  manyarms run train.py:train --budget 2h --workers 4 --storage digits.db --set exploration=0.01

The script defines the function, as train(pull), and a space, as a global named `space`: a Space, or a dict.
Run the same line again after any interruption, or with a larger budget, and the search goes on."""


def add_commands(commands: Any) -> None:
    """Add `run` and `resume`."""
    run = commands.add_parser(
        "run", help="search with a function of a script", epilog=_RUN, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    run.add_argument("target", help="script.py:function, or package.module:function")
    run.add_argument("--budget", required=True, help='in all, over all runs: steps such as 500, or training time such as "2h"')
    run.add_argument("--space", default="space", help="name of the space in the script (default: space)")
    run.add_argument("--max-steps", type=int, help="most steps of one arm (default: 1, a complete training)")
    run.add_argument(
        "--strategy", default="AdaptiveMutantUCB", help="name of the strategy, such as asha or random (default: %(default)s)"
    )
    run.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", help="a setting of the strategy; may be repeated"
    )
    run.add_argument("--direction", choices=("maximize", "minimize"), default="maximize")
    run.add_argument("--storage", default=default_storage(), help=f"file or URL of the storage {DEFAULT}")
    run.add_argument("--name", help="name of the study (default: the function's)")
    run.add_argument("--checkpoints", help="directory of saved models (default: beside the storage)")
    run.add_argument("--seed", type=int, help="same seed, same search")
    _add_running(run)
    run.set_defaults(command=_run)
    resume = commands.add_parser("resume", help="go on with a search that `run` started")
    add_study(resume)
    resume.add_argument("--budget", help="a new total")
    _add_running(resume)
    resume.set_defaults(command=_resume)


def _add_running(parser: argparse.ArgumentParser) -> None:
    """How to run, which may differ from time to time."""
    parser.add_argument("--workers", type=int, default=1, help="processes that train at once (default: 1, in this process)")
    parser.add_argument("--timeout", help='start no more pulls after this time, such as "8h"')
    parser.add_argument(
        "--pull-timeout", help='end a pull that takes longer, such as 10m; "remaining": with the time of the search'
    )
    parser.add_argument("--retries", type=int, default=0, help="start a failed pull again so often (default: 0)")
    parser.add_argument("--deterministic", action="store_true", help="same seed, same result also with several workers")
    shown = parser.add_mutually_exclusive_group()
    shown.add_argument("--quiet", action="store_const", const=0, dest="verbose", default=1, help="show nothing while it runs")
    shown.add_argument("-v", "--verbose", action="store_const", const=2, dest="verbose", help="show a line for each pull too")


def _run(options: argparse.Namespace) -> int:
    target = options.target
    if target.endswith(".py") or ":" not in target:
        raise ValueError(f"target must be script.py:function or package.module:function, got {target!r}")
    path = target.rpartition(":")[0]
    _check_given_once(options)
    origin = {
        "target": f"{Path(path).absolute()}:{target.rpartition(':')[2]}" if path.endswith(".py") else target,
        "space": options.space,
        "max_steps": options.max_steps,
        "strategy": options.strategy,
        "set": options.set,
        "direction": options.direction,
        "budget": options.budget,
        "checkpoints": None if options.checkpoints is None else str(Path(options.checkpoints).absolute()),
        "seed": options.seed,
    }
    name = options.name or target.rpartition(":")[2]
    return _search(origin, _steps_or_time(options.budget), options, name)


def _check_given_once(options: argparse.Namespace) -> None:
    """Refuse a setting that is given twice: nobody could tell which one counts."""
    names = [pair.partition("=")[0] for pair in options.set]
    for name, pair in zip(names, options.set, strict=True):
        if names.count(name) > 1:
            raise ValueError(f"--set must give {name} once, got it {names.count(name)} times")
        if name in ("budget", "max_steps", "seed") and (given := getattr(options, name)) is not None:
            raise ValueError(f"{name} must be given once, got --{name.replace('_', '-')} {given} and --set {pair}")


def _resume(options: argparse.Namespace) -> int:
    name = chosen_name(options)
    with stored_study(options.storage, name) as study:
        origin, limits = study.header.get("origin"), study.limits
    if origin is None or "target" not in origin:
        raise ManyarmsError(f"study {name!r} was not started by `manyarms run`: run its own script again to go on with it")
    origin = {**origin, "max_steps": origin["max_steps"] or study.max_steps}  # the default of an older version was another
    newest = limits or _steps_or_time(origin["budget"])  # a study of an older version keeps its time in the origin alone
    return _search(origin, newest if options.budget is None else _steps_or_time(options.budget), options, name)


def _search(origin: Mapping[str, Any], budget: int | str | Budget, options: argparse.Namespace, name: str) -> int:
    module = load_module(origin["target"].rpartition(":")[0])
    function = _member(module, origin["target"].rpartition(":")[2])
    if not callable(function):
        raise ValueError(f"target must name a function, got {function!r}")
    kind = strategy_class(origin["strategy"])
    settings = _settings(origin["set"], kind)
    study = tune(
        function,
        _member(module, origin["space"]),
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
        timeout=_number_or_text(options.timeout),
        pull_timeout=_number_or_text(options.pull_timeout),
        retries=options.retries,
        deterministic=options.deterministic,
        verbose=options.verbose,
    )
    with study:
        print_status(study)
        if study.interrupted:
            say(f"interrupted{_left(study.remaining)}. Run the same command again, or `manyarms resume`, to continue")
        return 130 if study.interrupted else 0


def _left(remaining: Mapping[str, float]) -> str:
    """What is left of the budget, if it has a limit."""
    units = {"steps": "steps", "seconds": "s of training", "cost": "of the cost"}
    parts = [f"{amount:.6g} {units[name]}" for name, amount in remaining.items()]
    return f" with {' and '.join(parts)} left" if parts else ""


def load_module(path: str) -> ModuleType:
    """The module of a script's file or of a dotted name. Workers get its functions by value: they need not find it."""
    if not path.endswith(".py"):
        sys.path.insert(0, "")
        return importlib.import_module(path)
    file = Path(path).absolute()
    if not file.is_file():
        raise ValueError(f"target must name a script that exists, got {path!r}")
    sys.path.insert(0, str(file.parent))
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[file.stem] = module
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        raise ManyarmsError(f"{path} cannot be loaded:\n{_own_traceback(error, str(file))}") from error
    cloudpickle.register_pickle_by_value(module)
    return module


def _own_traceback(error: BaseException, file: str) -> str:
    """The traceback from the script's first line on."""
    place = error.__traceback__
    while place is not None and place.tb_frame.f_code.co_filename != file:
        place = place.tb_next
    return "".join(traceback.format_exception(type(error), error, place)).rstrip()


def _member(module: ModuleType, name: str) -> Any:
    if not hasattr(module, name):
        known = ", ".join(sorted(key for key in vars(module) if not key.startswith("_"))[:20])
        raise ValueError(f"{module.__name__} has no {name!r}; it has {known or 'nothing'}")
    return getattr(module, name)


def _settings(pairs: list[str], kind: type) -> dict[str, Any]:
    """NAME=VALUE, with the value read as Python would read it, or else as text."""
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


def _steps_or_time(budget: str) -> int | str:
    try:
        return int(budget)
    except ValueError:
        return budget


def _number_or_text(value: str | None) -> float | str | None:
    try:
        return None if value is None else float(value)
    except ValueError:
        return value
