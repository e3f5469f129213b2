"""Loads the trained models of a study, and trains them again if their checkpoints are lost."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from ..checkpoints.assignment import Assignment
from ..checkpoints.retraining import recipe
from ..checkpoints.state import DamagedCheckpoint, SavedState
from ..errors import CheckpointLost
from ..runners.execute import Function, retrain
from .counts import Counts


def model_of(arm: int, counts: Counts, assignment: Assignment, seed: int, function: Function | None) -> Any:
    """The model that an arm saved at its best step.

    Args:
        arm: The id of the arm.
        counts: The counts of the study.
        assignment: The checkpoints of the study.
        seed: Random seed for the study.
        function: The training function. It trains the model again if its checkpoint is lost, and reads custom formats.
    """
    checkpoint, step = assignment.best_state(arm)
    if checkpoint is None:
        raise _nothing_saved(arm)
    with tempfile.TemporaryDirectory(prefix="manyarms-") as scratch:
        path = assignment.find_sound(checkpoint, Path(scratch))
        if path is not None:
            return _loaded(arm, path, function)
        if function is None:
            raise CheckpointLost(f"the checkpoint of arm {arm} is lost: best_model(function) trains it again")
        parts = recipe(counts.arms, arm, step, seed, lambda name: assignment.find_sound(name, Path(scratch)))
        return _loaded(arm, retrain(function, parts, Path(scratch))[arm], function)


def saved_model(arm: int, checkpoint: Path | None, function: Function | None) -> Any:
    """The model in the checkpoint of an arm, for readers, which never train. The checkpoint may be missing or corrupt.

    Args:
        arm: The id of the arm.
        checkpoint: The directory; None if the arm saved nothing.
        function: The training function, which is only used to read a custom format.
    """
    if checkpoint is None:
        raise _nothing_saved(arm)
    try:
        return _loaded(arm, checkpoint, function)
    except DamagedCheckpoint:
        raise CheckpointLost(
            f"the checkpoint of arm {arm} is missing or corrupt, and a study opened for reading trains nothing. If the study "
            "is running, load it again, because it may have replaced the checkpoint. Otherwise open it with ma.Study(...): "
            "best_model(function) then trains the model again"
        ) from None


def check_saved_states(function: Function, counts: Counts, assignment: Assignment) -> None:
    """Call the function's method `check_saved(directory)`, if it has one, with a saved state. It may raise an error."""
    check_saved = getattr(function, "check_saved", None)
    if check_saved is None:
        return
    with tempfile.TemporaryDirectory(prefix="manyarms-") as scratch:
        for record in counts.arms.values():
            if (path := assignment.find_sound(record.checkpoint, Path(scratch))) is not None:
                check_saved(path)
                return


def _nothing_saved(arm: int) -> CheckpointLost:
    return CheckpointLost(f"arm {arm} has no saved model: call pull.save(model) in the training function")


def _loaded(arm: int, checkpoint: Path, function: Function | None) -> Any:
    """The object that was saved. A function with a custom format reads it with its method `load_model(directory)`."""
    state, own = SavedState(checkpoint), getattr(function, "load_model", None)
    if callable(own):
        return own(state.directory)
    if not state.has_object:
        raise CheckpointLost(
            f"arm {arm} saved files of its own, but no object: best_model(function) reads them if the function has a method "
            f"load_model(directory); study.checkpoint_of({arm}) is where they are"
        )
    return state.load()
