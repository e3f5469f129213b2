"""Which saved states a pull begins from, what it may save, and what is kept: the journal's view of the checkpoints."""

from __future__ import annotations

import tempfile
import warnings
from pathlib import Path
from typing import Any

from ..checkpoints import Checkpoints, is_sound
from ..checkpoints.recipe import Slice, pull_seed, recipe
from ..checkpoints.state import SavedState
from ..core import Outcome, Pull
from ..errors import CheckpointLost, ManyarmsWarning
from ..runners.execute import Function, retrain
from ..runners.task import Task
from ..strategies import uses_mean
from .counts import InFlight
from .recommendation import best_state
from .replay import StudyState


class Assignment:
    """Makes tasks of pulls, and takes over what their outcomes saved.

    Args:
        checkpoints: the files.
        state: what the journal says about them.
        seed: of the study.
        lasting: what is saved must outlive a power cut: not where the journal itself is in memory.
    """

    def __init__(self, checkpoints: Checkpoints, state: StudyState, seed: int, lasting: bool = True) -> None:
        self.checkpoints = checkpoints
        self._lasting = lasting
        self._state = state
        self._counts = state.counts
        self._seed = seed
        self._lost: set[str] = set()  # found corrupt or missing by a pull that wanted to load them
        self._warned = False
        checkpoints.sweep(self._counts.needed())  # unfinished ones of a killed process, and those no longer needed

    def task(self, pull: Pull, slots: int) -> Task:
        """All that a worker needs to run a pull, where up to `slots` run at once."""
        arm, flight = pull.arm.id, self._counts.in_flight[pull.arm.id]
        if excess := self.checkpoints.shortage(slots):
            self._evict(excess)
        name = self.checkpoints.new_name(arm, pull.stop)
        return Task(
            pull,
            pull_seed(self._seed, arm, pull.start),
            previous=self._find(flight.previous),
            parent=self.checkpoints.path(flight.parent)
            if flight.parent is not None
            else None,  # there or not: seen when loaded
            staged=self.checkpoints.staged(name),
            final=self.checkpoints.path(name),
            room=self.checkpoints.reserve(arm, slots),
            recipe=self._recipe(pull, flight),
            lasting=self._lasting,
            owner=self.checkpoints.record,
        )

    def lose(self, checkpoint: str) -> None:
        """A pull found a checkpoint corrupt or missing: its next task trains that state again."""
        self.checkpoints.drop([checkpoint])
        self._lost.add(checkpoint)

    def settle(self, outcome: Outcome, flight: InFlight) -> None:
        """Take over what a pull saved, and drop what that has replaced."""
        arm = outcome.pull.arm
        self.checkpoints.release(arm.id)
        if outcome.checkpoint is not None:
            self.checkpoints.add(outcome.checkpoint, outcome.size)
        elif outcome.unsaved is not None:
            self.checkpoints.note_refused(outcome.size)
            self._warn(f"arm {arm.id} could not save its state ({outcome.unsaved}); where needed it is trained again")
        old = {flight.previous, flight.parent, flight.best} - self._kept(arm.id)
        if arm.parents and flight.parent in old:
            old -= self._kept(arm.parents[0])
        if old := {name for name in old if name is not None}:
            self.checkpoints.drop(old - self._leased())

    def _kept(self, arm: int) -> set[str | None]:
        """The states of an arm that are kept: its newest, to train on, and its best."""
        record = self._counts.arms[arm]
        return {record.checkpoint, self._best_state(arm)[0]}

    def _best_state(self, arm: int) -> tuple[str | None, int]:
        """The checkpoint with the best state of an arm, and its step."""
        return best_state(self._counts.arms[arm], uses_mean(self._state.strategy, arm))

    def check(self, function: Function) -> None:
        """Let a function that can tell refuse to go on with what another one saved."""
        check_saved = getattr(function, "check_saved", None)
        if check_saved is None:
            return
        for record in self._counts.arms.values():
            path = None if record.checkpoint is None else self._find_sound(record.checkpoint)
            if path is not None:
                check_saved(path)
                return

    def model(self, arm: int, function: Function | None) -> Any:
        """What the arm saved where it was best; trained again with the function if it is lost."""
        checkpoint, step = self._best_state(arm)
        if checkpoint is None:
            raise CheckpointLost(f"arm {arm} saved nothing: call pull.save(model) in the function")
        path = self._find_sound(checkpoint)
        if path is not None:
            return _loaded(arm, path, function)
        if function is None:
            raise CheckpointLost(f"the checkpoint of arm {arm} is lost: best_model(function) trains it again")
        parts = recipe(self._counts.arms, arm, step, self._seed, self._find_sound)
        with tempfile.TemporaryDirectory(prefix="manyarms-") as scratch:
            return _loaded(arm, retrain(function, parts, Path(scratch))[arm], function)

    def _recipe(self, pull: Pull, flight: InFlight) -> tuple[Slice, ...]:
        """What to train again first: the arm itself if its state is gone, its parent if a pull asked for that in vain."""
        arms = self._counts.arms
        if flight.previous is not None and self._find(flight.previous) is None:
            return recipe(arms, pull.arm.id, pull.start, self._seed, self._find)
        if flight.parent in self._lost:
            return recipe(arms, pull.arm.parents[0], arms[pull.arm.id].born_at, self._seed, self._find)
        return ()

    def _find(self, checkpoint: str | None) -> Path | None:
        return self.checkpoints.path(checkpoint) if checkpoint is not None and checkpoint in self.checkpoints else None

    def _find_sound(self, checkpoint: str) -> Path | None:
        path = self._find(checkpoint)
        return path if path is not None and is_sound(path) else None

    def _leased(self) -> set[str]:
        """The checkpoints that pulls in flight may load."""
        flights = self._counts.in_flight.values()
        return {name for flight in flights for name in (flight.previous, flight.parent) if name is not None}

    def _evict(self, excess: int) -> None:
        arms, known = self._counts.arms, self._state.extended
        states = ((name, id) for id, record in arms.items() for name in (record.best_checkpoint, record.checkpoint))
        owner = {name: id for name, id in states if name is not None}
        needed = self._leased()
        if self._counts.pulls and (best := self._best_state(self._state.strategy.best().id)[0]) is not None:
            needed.add(best)
        priority = known.priority if known is not None else lambda arm: float(arms[arm].steps)
        self.checkpoints.evict(excess, owner, priority, needed)

    def _warn(self, message: str) -> None:
        if not self._warned:
            warnings.warn(message, ManyarmsWarning, stacklevel=2)
        self._warned = True


def _loaded(arm: int, checkpoint: Path, function: Function | None) -> Any:
    """The object that was saved; a function with a format of its own makes it with `load_model(directory)`."""
    state, own = SavedState(checkpoint), getattr(function, "load_model", None)
    if callable(own):
        return own(state.directory)
    if not state.has_object:
        raise CheckpointLost(
            f"arm {arm} saved files of its own, but no object: best_model(function) reads them if the function has "
            f"load_model(directory); study.checkpoint_of({arm}) tells where they are"
        )
    return state.load()
