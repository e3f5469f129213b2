"""`best`: show the recommended arm of a study."""

from __future__ import annotations

import argparse
import json
from typing import Any

from ..checkpoints.location import directories, exists, find_checkpoint
from ..checkpoints.names import is_name
from ..errors import ManyarmsError
from ..journal.sql import SqlJournal
from ..journal.totals import arms
from ..study.recommendation import Recommendation
from .output import add_json, print_json
from .studies import add_study, chosen_name, recommendation_of, stored_journal
from .terminal import print_line, print_note


def add_command(commands: Any) -> None:
    """Add `best`."""
    best = commands.add_parser(
        "best",
        help="show the recommended arm of a study",
        description="Show the recommended arm of a study, and the checkpoint with its best state.",
    )
    add_study(best)
    add_json(best)
    best.set_defaults(command=_best)


def _best(options: argparse.Namespace) -> int:
    with stored_journal(options.storage, chosen_name(options), check=True) as journal:
        best, note = recommendation_of(journal)
        if best is None:
            from ..study.view import load_study  # here: it imports NumPy, which takes time

            load_study(journal, journal.name).best()  # raises an error that says why there is no recommendation
            return 1
        answer = _answer(journal, best)
    if options.json:
        print_json(answer)
    else:
        for key, value in answer.items():
            print_line(f"{key}: {json.dumps(value) if key == 'config' else value}")
    if note is not None:
        print_note(note)
    return 0


def _answer(journal: SqlJournal, best: Recommendation) -> dict[str, Any]:
    arm = arms(journal, [best.arm])[0]
    saved = arm.checkpoint if best.by_mean or arm.best_checkpoint is None else arm.best_checkpoint
    place = None
    if saved is not None and is_name(saved):  # a database from somebody else may contain any text
        try:
            place = find_checkpoint(directories(journal, journal.header or {}), saved)
            place = place if exists(place) else None
        except (ManyarmsError, ImportError) as error:
            print_note(error)
    return {
        "arm": arm.arm,
        "reward": best.reward,
        "best step": best.step,
        "steps": arm.steps,
        "config": arm.config,
        "checkpoint": None if place is None else str(place),
    }
