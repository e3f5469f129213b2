"""`resume`: continue a search that `run` started."""

from __future__ import annotations

import argparse
from typing import Any

from ..errors import ManyarmsError
from .run_options import add_run_options, search, steps_or_time
from .studies import add_study, chosen_name, stored_study


def add_command(commands: Any) -> None:
    """Add `resume`."""
    resume = commands.add_parser(
        "resume",
        help="continue a search that `run` started",
        description="Continue a search that `manyarms run` started. The script, the space and the settings are stored "
        "with the study.",
    )
    add_study(resume)
    resume.add_argument("--budget", help="new total over all runs: steps or training time (default: the last one given)")
    add_run_options(resume)
    resume.set_defaults(command=_resume)


def _resume(options: argparse.Namespace) -> int:
    name = chosen_name(options)
    with stored_study(options.storage, name) as study:
        origin, limits, max_steps = study.header.get("origin"), study.limits, study.max_steps
    if origin is None or "target" not in origin:
        raise ManyarmsError(f"Study {name!r} was not started by `manyarms run`. To continue it, run its own script again.")
    origin = {**origin, "max_steps": origin["max_steps"] or max_steps}  # older versions had a different default
    newest = limits or steps_or_time(origin["budget"])  # older versions stored a time budget only here
    return search(origin, newest if options.budget is None else steps_or_time(options.budget), options, name)
