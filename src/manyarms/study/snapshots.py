"""What a study stores beside its journal so that opening it is fast: snapshots of its state, and its recommendation."""

from __future__ import annotations

from contextlib import suppress

from ..errors import StorageError
from ..journal import Journal
from .recommendation import recommend
from .replay import StudyState

_SNAPSHOT_EVERY = 20_000  # events before the first snapshot; later ones follow after half as many events as there are
_SNAPSHOT_LAST = 2_000  # events since the last snapshot that make another one at the end of a run worthwhile
_RECOMMENDATION_EVERY = 1_000  # events; in a long study, 2 % of its events


class Snapshots:
    """Stores snapshots and recommendations when they are due. If that fails, nothing is lost: the journal is enough.

    Args:
        journal: Where to store them.
        state: The state of the study.
    """

    def __init__(self, journal: Journal, state: StudyState) -> None:
        self._journal, self._state, self._counts = journal, state, state.counts
        self.restart()

    def restart(self) -> None:
        """Count the events until the next snapshot from here."""
        self._snapshot_covers = self._recommendation_covers = self._counts.events

    def save_due(self) -> None:
        """Store what is due after the events so far."""
        events = self._counts.events
        if events - self._snapshot_covers >= max(_SNAPSHOT_EVERY, self._snapshot_covers // 2):
            self.save_snapshot()
        if events - self._recommendation_covers >= max(_RECOMMENDATION_EVERY, events // 50):
            self.save_recommendation()

    def save_last(self) -> None:
        """Store what makes the next opening fast, at the end of a run."""
        if self._counts.events - self._snapshot_covers >= _SNAPSHOT_LAST:
            self.save_snapshot()
        self.save_recommendation(again=True)

    def save_snapshot(self) -> None:
        """Store the state of the study, if its strategy can give it."""
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
