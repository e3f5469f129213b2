"""Decides which checkpoint a pull starts from, how much it may save, and which checkpoints are kept."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ..core import Outcome, Pull
from ..errors import ManyarmsWarning
from ..strategies import uses_mean
from .manifest import is_sound
from .objects import download
from .remote import Location, RemotePath
from .retraining import Slice, recipe
from .store import Checkpoints

if TYPE_CHECKING:
    from ..study.counts import InFlight
    from ..study.replay import StudyState


class PullFiles(NamedTuple):
    """Where a pull loads its state from, and where it saves. The fields are those of a `Task`."""

    previous: Location | None
    parent: Location | None
    staged: Path | None
    final: Location
    room: int | None
    recipe: tuple[Slice, ...]
    lasting: bool
    owner: str | None


class Assignment:
    """Assigns checkpoints to pulls, and registers the checkpoints that they save.

    Args:
        checkpoints: The files.
        state: The strategy and the counts of the study.
        seed: Random seed for the study.
        lasting: Whether checkpoints must survive a power cut. Not needed if the journal itself is in memory.
    """

    def __init__(self, checkpoints: Checkpoints, state: StudyState, seed: int, lasting: bool = True) -> None:
        self.checkpoints = checkpoints
        self._lasting = lasting
        self._state = state
        self._counts = state.counts
        self._seed = seed
        self._lost: set[str] = set()  # found corrupt or missing by a pull that tried to load them
        self._warned = False
        checkpoints.sweep(self._counts.needed())

    def files(self, pull: Pull, slots: int) -> PullFiles:
        """The files of a pull, if up to `slots` pulls run at once."""
        arm, flight = pull.arm.id, self._counts.in_flight[pull.arm.id]
        if excess := self.checkpoints.shortage(slots):
            self._evict(excess)
        name = self.checkpoints.new_name(arm, pull.stop)
        staged = self.checkpoints.staged(name)
        return PullFiles(
            previous=self._find(flight.previous),
            parent=None if flight.parent is None else self.checkpoints.path(flight.parent),  # checked when it is loaded
            staged=staged,
            final=self.checkpoints.path(name),
            room=self.checkpoints.reserve(arm, slots),
            recipe=self._recipe(pull, flight),
            lasting=self._lasting,
            owner=None if staged is None else self.checkpoints.record,
        )

    def mark_lost(self, checkpoint: str) -> None:
        """Note that a checkpoint is corrupt or missing. The next pull that needs it trains that state again."""
        self.checkpoints.drop([checkpoint])
        self._lost.add(checkpoint)

    def settle(self, outcome: Outcome, flight: InFlight) -> None:
        """Register what a pull saved, and delete the checkpoints that it replaces."""
        arm = outcome.pull.arm
        self.checkpoints.release(arm.id)
        if outcome.checkpoint is not None:
            self.checkpoints.add(outcome.checkpoint, outcome.size)
        elif outcome.unsaved is not None:
            self.checkpoints.note_refused(outcome.size)
            self._warn(f"arm {arm.id} could not save its state ({outcome.unsaved}). It is trained again if it is needed.")
        old = {flight.previous, flight.parent, flight.best} - self._kept(arm.id)
        if arm.parents and flight.parent in old:
            old -= self._kept(arm.parents[0])
        if old := {name for name in old if name is not None}:
            self.checkpoints.drop(old - self._leased())

    def best_state(self, arm: int) -> tuple[str | None, int]:
        """The checkpoint with the best state of an arm, and its step."""
        return self._counts.arms[arm].best_state(uses_mean(self._state.strategy, arm))

    def find_sound(self, checkpoint: str | None, scratch: Path) -> Path | None:
        """The directory of a checkpoint; None if it is missing or corrupt. A remote one is downloaded to `scratch`.

        Raises `StorageError` if it is remote and cannot be reached.
        """
        found = self._find(checkpoint)
        if isinstance(found, RemotePath):
            return _downloaded(found, scratch / found.name)
        return found if found is not None and is_sound(found) else None

    def _kept(self, arm: int) -> set[str | None]:
        """The states of an arm that are kept: its newest one, to continue from, and its best one."""
        return {self._counts.arms[arm].checkpoint, self.best_state(arm)[0]}

    def _recipe(self, pull: Pull, flight: InFlight) -> tuple[Slice, ...]:
        """What to train again first: the arm itself if its state is lost, or its parent if the parent's state is."""
        arms = self._counts.arms
        if flight.previous is not None and self._find(flight.previous) is None:
            return recipe(arms, pull.arm.id, pull.start, self._seed, self._find)
        if flight.parent in self._lost:
            return recipe(arms, pull.arm.parents[0], arms[pull.arm.id].born_at, self._seed, self._find)
        return ()

    def _find(self, checkpoint: str | None) -> Location | None:
        return self.checkpoints.path(checkpoint) if checkpoint is not None and checkpoint in self.checkpoints else None

    def _leased(self) -> set[str]:
        """The checkpoints that pulls in flight may load."""
        flights = self._counts.in_flight.values()
        return {name for flight in flights for name in (flight.previous, flight.parent) if name is not None}

    def _evict(self, excess: int) -> None:
        arms, known = self._counts.arms, self._state.extended
        states = ((name, id) for id, record in arms.items() for name in (record.best_checkpoint, record.checkpoint))
        owner = {name: id for name, id in states if name is not None}
        needed = self._leased()
        if self._counts.pulls and (best := self.best_state(self._state.strategy.best().id)[0]) is not None:
            needed.add(best)
        priority = known.priority if known is not None else lambda arm: float(arms[arm].steps)
        self.checkpoints.evict(excess, owner, priority, needed)

    def _warn(self, message: str) -> None:
        if not self._warned:
            warnings.warn(message, ManyarmsWarning, stacklevel=2)
        self._warned = True


def _downloaded(checkpoint: RemotePath, into: Path) -> Path | None:
    """The local copy of a checkpoint; None if it is missing or corrupt."""
    try:
        if not into.exists():
            download(checkpoint, into)
    except OSError:
        return None
    return into
