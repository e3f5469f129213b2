"""Snapshots of the state of a study, and its recommendation. They are stored with the journal, so that opening it is fast."""

from __future__ import annotations

from contextlib import suppress

from ..errors import StorageError
from ..journal import Journal
from .recommendation import recommend
from .replay import StudyState

_SNAPSHOT_EVERY = 20_000  # events before the first snapshot; later ones each time the number of events has grown by half
_SNAPSHOT_LAST = 2_000  # number of events since the last snapshot that makes another one worthwhile at the end of a run
_RECOMMENDATION_EVERY = 1_000  # events; in a long study, 2% of its events


class Snapshots:
    """Stores snapshots and recommendations when they are due. If that fails, nothing is lost, because the journal is enough.

    Args:
        journal: Where to store them.
        state: The state of the study.
    """

    def __init__(self, journal: Journal, state: StudyState) -> None:
        self._journal, self._state, self._counts = journal, state, state.counts
        self.restart()

    def restart(self) -> None:
        """Start counting events until the next snapshot."""
        self._snapshot_covers = self._recommendation_covers = self._counts.events

    def save_due(self) -> None:
        """Store a snapshot and the recommendation if they are due."""
        events = self._counts.events
        if events - self._snapshot_covers >= max(_SNAPSHOT_EVERY, self._snapshot_covers // 2):
            self.save_snapshot()
        if events - self._recommendation_covers >= max(_RECOMMENDATION_EVERY, events // 50):
            self.save_recommendation()

    def save_last(self) -> None:
        """Store a snapshot and the recommendation at the end of a run, so that the study opens fast next time."""
        if self._counts.events - self._snapshot_covers >= _SNAPSHOT_LAST:
            self.save_snapshot()
        self.save_recommendation(again=True)

    def save_snapshot(self) -> None:
        """Store the state of the study, if its strategy has `state`."""
        if self._state.extended is None:
            return
        self._snapshot_covers = self._counts.events
        with suppress(StorageError):
            self._journal.save_snapshot(self._counts.events, self._state.state())

    def save_recommendation(self, again: bool = False) -> None:
        """Store the best arm, so that readers do not have to replay the journal to know it.

        Args:
            again: Store it even if nothing has happened since it was stored, or since the study was opened.
        """
        events = self._counts.events
        if not self._counts.pulls or (events == self._recommendation_covers and not again):
            return
        self._recommendation_covers = events
        with suppress(StorageError):
            self._journal.save_recommendation(events, recommend(self._state.strategy, self._counts).text())
