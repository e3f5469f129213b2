"""Finds the stored study that a command uses, and its recommendation."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

from ..errors import ManyarmsError
from ..journal.header import stored_header
from ..journal.sql import SqlJournal
from ..journal.storage import only_name, study_names
from ..journal.totals import best_arms
from ..study.recommendation import Recommendation, stored_recommendation

if TYPE_CHECKING:
    from ..study.view import StudyView

STORAGE = "manyarms.db"
DEFAULT = f"(default: $MANYARMS_STORAGE or {STORAGE})"  # not the value of the variable, which may contain a password
_QUICK_REPLAY = 2_000  # events: shorter studies are replayed in a moment
_QUICK_CHECK = 20_000  # events: the checksums of shorter studies are compared in a moment
_CANDIDATES = 100  # arms to search for one that has not failed


def default_storage() -> str:
    """The storage in MANYARMS_STORAGE, or else a file in the working directory."""
    return os.environ.get("MANYARMS_STORAGE", STORAGE)


def add_storage(parser: argparse.ArgumentParser) -> None:
    """Add the argument that names a storage."""
    parser.add_argument("storage", nargs="?", default=default_storage(), help=f"file or URL of the storage {DEFAULT}")


def add_study(
    parser: argparse.ArgumentParser, name: str = "name of the study (default: the only study in the storage)"
) -> None:
    """Add the arguments that name a storage and a study in it.

    Args:
        parser: The parser of the command.
        name: The help text of the second argument.
    """
    add_storage(parser)
    parser.add_argument("name", nargs="?", help=name)


def chosen_name(options: argparse.Namespace) -> str:
    """The name of the study: the one given, or the only one in the storage."""
    return only_name(study_names(options.storage)) if options.name is None else str(options.name)


@contextmanager
def stored_journal(storage: str, name: str, check: bool = False) -> Iterator[SqlJournal]:
    """Open the journal of a study for reading. Errors from a corrupt study become a `ManyarmsError` with advice.

    Args:
        storage: The file or URL of the storage.
        name: The name of the study.
        check: Compare all events with their checksums, regardless of their number.
    """
    with unchecked_journal(storage, name) as journal:
        if check or len(journal) <= _QUICK_CHECK:
            journal.check()
        yield journal


@contextmanager
def unchecked_journal(storage: str, name: str) -> Iterator[SqlJournal]:
    """The same without comparing checksums, to read a study again and again while it is written."""
    with closing(SqlJournal(storage, name, write=False)) as journal:
        try:
            stored_header(journal)  # raises if the header is not valid
            yield journal
        except (ManyarmsError, BrokenPipeError):
            raise
        except Exception as error:
            cause = f"{type(error).__name__}: {error}"
            raise ManyarmsError(f"Study {name!r} is corrupt ({cause}). Run `manyarms verify` to find out where.") from error


@contextmanager
def stored_study(storage: str, name: str) -> Iterator[StudyView]:
    """Open a study for reading. Errors from a corrupt study become a `ManyarmsError` with advice."""
    from ..study.view import load_study  # here: it imports NumPy, which takes time and long studies do not need

    with stored_journal(storage, name) as journal:
        yield load_study(journal, name)


def recommendation_of(journal: SqlJournal) -> tuple[Recommendation | None, str | None]:
    """The recommendation of a study, and a note for the user. Either may be None.

    Long studies are not replayed, so the recommendation of a study that is running may be a few pulls old.
    """
    saved, length = journal.recommendation(), len(journal)
    stored = None if saved is None else stored_recommendation(saved[1])
    if saved is not None and stored is not None and saved[0] == length:
        return stored, None
    if length <= _QUICK_REPLAY:
        from ..study.view import load_study  # here, as above

        study = load_study(journal, journal.name)
        return (study.recommendation() if study.counts.pulls else None), None
    if saved is not None and stored is not None:
        return stored, f"The study has not ended. This recommendation does not include its last {length - saved[0]} events."
    best = [arm for arm in best_arms(journal, _CANDIDATES) if arm.best_reward is not None]
    if not best:
        return None, None
    arm = next((arm for arm in best if arm.last_event != "failed"), best[0])
    found = Recommendation(arm.arm, arm.best_step, arm.best_reward or 0.0, by_mean=False)
    return found, "The study has stored no recommendation yet. This is the arm with the best reward."
