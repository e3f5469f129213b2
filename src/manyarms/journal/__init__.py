"""The journal of a study: the append-only record of everything that happened."""

from __future__ import annotations

import os

from .memory import MemoryJournal
from .protocol import Event, Journal, SharedJournal

_JOURNAL = (
    *("name", "header", "create", "append", "events", "close"),
    *("snapshot", "save_snapshot", "recommendation", "save_recommendation"),
)

__all__ = ["Event", "Journal", "MemoryJournal", "SharedJournal", "open_journal"]


def open_journal(storage: str | os.PathLike[str] | Journal | None, name: str, write: bool = True) -> Journal:
    """Open the journal of a study: in memory, in a database given by URL or path, or the journal that is given itself."""
    if storage is None:
        return MemoryJournal(name)
    if isinstance(storage, os.PathLike):
        storage = os.fspath(storage)
    if not isinstance(storage, str):
        missing = [name for name in _JOURNAL if not hasattr(storage, name)]
        if isinstance(storage, type) or missing:
            lacks = f" without {missing[0]}" if hasattr(storage, "append") and missing else ""
            raise TypeError(
                f'storage must be a URL such as "sqlite:///study.db", a path, a journal or None, got {storage!r}{lacks}'
            )
        return storage
    from .sql import SqlJournal  # here: SQLAlchemy is slow to import, and a study in memory does not need it

    return SqlJournal(storage, name, write)
