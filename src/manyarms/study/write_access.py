"""Lets several objects take turns writing to a study: the lock of its journal, and replaying what others wrote."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

from ..errors import StudyClosed
from ..journal import Journal, SharedJournal
from .header import first_strategy
from .replay import StudyState


class WriteAccess:
    """The lock of a journal. A journal without one, such as one in memory, can always be written.

    Args:
        journal: The journal of an open study. From now on, a newer object in this process may take over its lock.
    """

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._shared = journal if isinstance(journal, SharedJournal) else None
        if self._shared is not None:
            self._shared.yields = True

    @property
    def is_writer(self) -> bool:
        """Whether this object may write."""
        return self._shared is None or self._shared.is_writer

    def has_others(self, own: int) -> bool:
        """Whether others have written to the journal, so that it has more than the `own` events that this object knows."""
        return hasattr(self._journal, "__len__") and len(self._journal) != own

    def take(self) -> bool:
        """Take the lock, unless this object already holds it. Raises `StudyLocked` if another process or object holds it.

        Returns:
            Whether this call acquired the lock. If it did, others may have written since the lock was last released.
        """
        if self._shared is None or self._shared.is_writer:
            return False
        self._shared.acquire()
        return True

    def release(self) -> None:
        """Release the lock, so that others can write."""
        if self._shared is not None:
            self._shared.release()

    def writing(self) -> AbstractContextManager[None]:
        """Context manager during which no other object in this process can take over the lock."""
        return nullcontext() if self._shared is None else self._shared.writing()


@contextmanager
def reading(journal: Journal) -> Iterator[None]:
    """Context manager around reads. An object that does not write keeps no session on a server after them.

    Servers limit the number of sessions, and there may be any number of readers. The next read opens a new one.
    """
    try:
        yield
    finally:
        if isinstance(journal, SharedJournal) and not journal.is_writer:
            journal.release()


def learn_from_others(state: StudyState, journal: Journal, header: Mapping[str, Any], diverged: bool) -> None:
    """Replay what others appended to the journal.

    Args:
        state: The state of the study, which is updated.
        journal: The journal.
        header: The header of the study.
        diverged: Whether the strategy made decisions that were never written. In that case, a fresh copy replays the journal.
    """
    if diverged:
        if state.extended is None:
            raise StudyClosed(
                f"study {journal.name!r} was continued elsewhere: open it again with ma.Study(...) to continue it"
            )
        state.begin(first_strategy(state.strategy, header))
        state.counts.clear()
    state.replay(journal, use_snapshot=diverged)
