"""Takes turns at writing a study: the lock of its journal, and what others wrote in the meantime."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
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
        """Whether others have written to the journal, of which this object knows `own` events."""
        return hasattr(self._journal, "__len__") and len(self._journal) != own

    def take(self) -> bool:
        """Take the lock, unless this object holds it. Raises `StudyLocked` if another process or object holds it.

        Returns:
            Whether the lock was taken now, so that others may have written since it was released.
        """
        if self._shared is None or self._shared.is_writer:
            return False
        self._shared.acquire()
        return True

    def release(self) -> None:
        """Let others write."""
        if self._shared is not None:
            self._shared.release()

    def writing(self) -> AbstractContextManager[None]:
        """While this is entered, no other object in this process can take over the lock."""
        return nullcontext() if self._shared is None else self._shared.writing()


def learn_from_others(state: StudyState, journal: Journal, header: Mapping[str, Any], diverged: bool) -> None:
    """Replay what others appended to the journal.

    Args:
        state: The state of the study, which is updated.
        journal: The journal.
        header: The header of the study.
        diverged: Whether the strategy made decisions that were never written. If so, a fresh copy replays the journal.
    """
    if diverged:
        if state.extended is None:
            raise StudyClosed(
                f"study {journal.name!r} was continued elsewhere: open it again with ma.Study(...) to continue it"
            )
        state.begin(first_strategy(state.strategy, header))
        state.counts.clear()
    state.replay(journal, use_snapshot=diverged)
