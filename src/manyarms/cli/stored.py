"""Finding the study a command is about."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

from ..errors import ManyarmsError, StudyNotFound
from ..journal.header import stored_header
from ..journal.sql import SqlJournal
from ..journal.storage import study_names
from ..journal.totals import best_arms
from ..study.recommendation import Recommendation, stored_recommendation

if TYPE_CHECKING:
    from ..study.view import StudyView

STORAGE = "manyarms.db"
DEFAULT = f"(default: $MANYARMS_STORAGE or {STORAGE})"  # not its value: a URL may hold a password
_REPLAYED = 2_000  # events: the decisions of a study no longer than this are made again in a moment
_FEW = 100  # arms, most of which have not failed
_CHECKED = 20_000  # events: a study no longer than this is compared with its checksums in a moment


def default_storage() -> str:
    """Where studies are kept if the user does not say: MANYARMS_STORAGE, else a file here."""
    return os.environ.get("MANYARMS_STORAGE", STORAGE)


def add_storage(parser: argparse.ArgumentParser) -> None:
    """The argument that names a storage."""
    parser.add_argument("storage", nargs="?", default=default_storage(), help=f"file or URL of the storage {DEFAULT}")


def add_study(parser: argparse.ArgumentParser) -> None:
    """The two arguments that name a stored study."""
    add_storage(parser)
    parser.add_argument("name", nargs="?", help="name of the study; not needed if there is only one")


def chosen_name(options: argparse.Namespace) -> str:
    """The study's name: as given, or the only one there is."""
    if options.name is not None:
        return str(options.name)
    names = study_names(options.storage)
    if len(names) != 1:
        listed = ", ".join(map(repr, names[:20])) or "none"
        raise StudyNotFound(f"the storage holds {len(names)} studies, name one of them: {listed}")
    return names[0]


@contextmanager
def stored_journal(storage: str, name: str, check: bool = False) -> Iterator[SqlJournal]:
    """The journal of a study, opened for reading; a corrupt one is refused with advice.

    Args:
        storage: The file or URL of the storage.
        name: The name of the study.
        check: Compare all events with their checksums, however many there are.
    """
    with closing(SqlJournal(storage, name, write=False)) as journal:
        try:
            stored_header(journal)  # refuses one that no study writes
            if check or len(journal) <= _CHECKED:
                journal.check()
            yield journal
        except (ManyarmsError, BrokenPipeError):
            raise
        except Exception as error:
            cause = f"{type(error).__name__}: {error}"
            raise ManyarmsError(f"study {name!r} is corrupt ({cause}): `manyarms verify` says where") from error


@contextmanager
def stored_study(storage: str, name: str) -> Iterator[StudyView]:
    """The study, opened for reading; a corrupt one is refused with advice."""
    from ..study.view import load_study

    with stored_journal(storage, name) as journal:
        yield load_study(journal, name)


def recommendation_of(journal: SqlJournal) -> tuple[Recommendation | None, str | None]:
    """What the study recommends, None if no pull has succeeded, and what a user should know about it.

    A long study is not replayed for this: while it is running, the arm that it recommended last is a few pulls old.
    """
    saved, length = journal.recommendation(), len(journal)
    stored = None if saved is None else stored_recommendation(saved[1])
    if saved is not None and stored is not None and saved[0] == length:
        return stored, None
    if length <= _REPLAYED:
        from ..study.view import load_study  # here: long studies are shown without NumPy, which takes a while to import

        study = load_study(journal, journal.name)
        return (study.recommendation() if study.counts.pulls else None), None
    if saved is not None and stored is not None:
        return stored, f"the study has not ended: this is without its last {length - saved[0]} events"
    best = [arm for arm in best_arms(journal, _FEW) if arm.best_reward is not None]
    if not best:
        return None, None
    arm = next((arm for arm in best if arm.last_event != "failed"), best[0])
    found = Recommendation(arm.arm, arm.best_step, arm.best_reward or 0.0, by_mean=False)
    return found, "the study has stored no recommendation yet: this is the arm with the best reward"
