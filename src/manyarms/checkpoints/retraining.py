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
    lost, source = _lost_states(arms, arm, stop, find)
    parts: list[Slice] = []
    for id, last in reversed(lost):
        start, record = 0, arms[id]
        for end in record.stops:
            if end > last:
                break
            parent = source if record.inherited and start == 0 else None
            parts.append(Slice(Pull(record.arm, start, end), pull_seed(study_seed, id, start), parent))
            start = end
        source = len(parts) - 1
    return tuple(parts)


def _lost_states(
    arms: Mapping[int, ArmRecord], arm: int, stop: int, find: Callable[[str], Location | None]
) -> tuple[list[tuple[int, int]], int | Location | None]:
    """The states to train again, newest first: the arm and its step, then the ancestors whose states it used.

    Returns:
        Each state as an arm and a step, and the checkpoint of the ancestor that the last of them grew from, if any.
    """
    lost = [(arm, stop)]  # not recursive, because there may be thousands of generations
    while (record := arms[lost[-1][0]]).inherited:
        ancestor = arms[record.arm.parents[0]]
        if ancestor.checkpoint is not None and ancestor.steps == record.born_at:
            found = find(ancestor.checkpoint)
            if found is not None:
                return lost, found
        lost.append((ancestor.arm.id, record.born_at))
    return lost, None
