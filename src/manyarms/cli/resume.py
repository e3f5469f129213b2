"""`resume`: continue a search that `run` started."""

from __future__ import annotations

import argparse
from typing import Any

from ..errors import ManyarmsError
from .search import add_run_options, search, steps_or_time
from .studies import add_study, chosen_name, stored_study


def add_command(commands: Any) -> None:
    """Add `resume`."""
    resume = commands.add_parser("resume", help="continue a search that `run` started")
    add_study(resume)
    resume.add_argument("--budget", help="new total budget")
    add_run_options(resume)
    resume.set_defaults(command=_resume)


def _resume(options: argparse.Namespace) -> int:
    name = chosen_name(options)
    with stored_study(options.storage, name) as study:
        origin, limits, max_steps = study.header.get("origin"), study.limits, study.max_steps
    if origin is None or "target" not in origin:
        raise ManyarmsError(f"Study {name!r} was not started by `manyarms run`. To continue it, run its own script again.")
    origin = {**origin, "max_steps": origin["max_steps"] or max_steps}  # older versions had another default
    newest = limits or steps_or_time(origin["budget"])  # studies of older versions store a time budget only here
    return search(origin, newest if options.budget is None else steps_or_time(options.budget), options, name)
