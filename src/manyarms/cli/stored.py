"""Finding the study a command is about."""

from __future__ import annotations

import argparse
import os

from ..errors import ManyarmsError, StudyNotFound
from ..journal import open_journal
from ..journal.sql import study_names
from ..view import StudyView, load_study

STORAGE = "manyarms.db"
DEFAULT = f"(default: $MANYARMS_STORAGE or {STORAGE})"  # not its value: a URL may hold a password


def default_storage() -> str:
    """Where studies are kept if the user does not say: MANYARMS_STORAGE, else a file here."""
    return os.environ.get("MANYARMS_STORAGE", STORAGE)


def add_study(parser: argparse.ArgumentParser) -> None:
    """The two arguments that name a stored study."""
    parser.add_argument(
        "storage",
        nargs="?",
        default=default_storage(),
        help=f"file or URL of the storage {DEFAULT}",
    )
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


def stored_study(storage: str, name: str) -> StudyView:
    """The study, opened for reading; a damaged one is refused with advice."""
    journal = open_journal(storage, name, write=False)
    try:
        return load_study(journal, name)
    except ManyarmsError:
        journal.close()
        raise
    except Exception as error:
        journal.close()
        cause = f"{type(error).__name__}: {error}"
        raise ManyarmsError(f"study {name!r} is damaged ({cause}): `manyarms verify` says where") from error
