"""Whose turn it is to write a study: taking the lock of its journal, and learning what others wrote meanwhile."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from ..errors import StudyClosed
from ..journal import Journal, SharedJournal
from .header import first_strategy
from .replay import StudyState


class WriteAccess:
    """The lock of a journal; a journal without one, such as one in memory, is always its object's own.

    Args:
        journal: The journal of a study that is open. From now on a newer object of this process may take its lock over.
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
        """Whether others have written to the journal, in which this object knows of so many events."""
        return hasattr(self._journal, "__len__") and len(self._journal) != own

    def take(self) -> bool:
        """Become the writer, unless it is. `StudyLocked` if another process is, or another object of this process.

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
        """For as long as it is entered, no other object of this process can take the lock over."""
        return nullcontext() if self._shared is None else self._shared.writing()


def learn_from_others(state: StudyState, journal: Journal, header: Mapping[str, Any], diverged: bool) -> None:
    """Replay what others appended to the journal.

    Args:
        state: What is known so far.
        journal: The journal, which has grown.
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
