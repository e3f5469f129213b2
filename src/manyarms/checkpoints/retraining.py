"""Recipes for training a lost state again: which pulls, in which order, with which seeds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..core import Pull
from .remote import Location

if TYPE_CHECKING:
    from ..study.counts import ArmRecord


@dataclass(frozen=True, slots=True)
class Slice:
    """A pull to train again, because the state that it saved is lost.

    Args:
        pull: The pull.
        seed: The seed that it had.
        parent: For the first pull of an arm, the state of its parent: the position of a slice in the recipe, or a checkpoint.
    """

    pull: Pull
    seed: int
    parent: int | Location | None = None


def pull_seed(study_seed: int, arm: int, start: int) -> int:
    """The random seed of a pull. It is the same on any machine, in any order, and after any restart."""
    return int(np.random.SeedSequence([study_seed, arm, start]).generate_state(1)[0])


def recipe(
    arms: Mapping[int, ArmRecord], arm: int, stop: int, study_seed: int, find: Callable[[str], Location | None]
) -> tuple[Slice, ...]:
    """The pulls that train an arm from scratch to `stop` steps. The pulls of ancestors whose states it used come first.

    Args:
        arms: The record of every arm.
        arm: The id of the arm.
        stop: The step to train to.
        study_seed: Random seed for the study.
        find: Returns where a checkpoint is; None if it is lost.
    """
    parts: list[Slice] = []

    def rebuilt(arm: int, stop: int) -> int:
        """Add the pulls of one arm. Returns the position of the last one."""
        record, start = arms[arm], 0
        parent = place(record.arm.parents[0], record.born_at) if record.inherited else None
        for end in record.stops:
            if end > stop:
                break
            pull = Pull(record.arm, start, end)
            parts.append(Slice(pull, pull_seed(study_seed, arm, start), parent if start == 0 else None))
            start = end
        return len(parts) - 1

    def place(arm: int, stop: int) -> int | Location:
        """The state of an arm at `stop` steps: a checkpoint if it exists, otherwise a position in the recipe."""
        record = arms[arm]
        found = find(record.checkpoint) if record.checkpoint is not None and record.steps == stop else None
        return found if found is not None else rebuilt(arm, stop)

    rebuilt(arm, stop)
    return tuple(parts)
