"""How to train a lost state again: which pulls, in which order, with which seeds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..core import Pull

if TYPE_CHECKING:
    from ..study.counts import ArmRecord


@dataclass(frozen=True, slots=True)
class Slice:
    """A pull to be trained again, because the state it left behind is lost.

    Args:
        pull: what to train.
        seed: the seed it had.
        parent: for an arm's first pull, a place in the recipe or a checkpoint that held its parent's state then.
    """

    pull: Pull
    seed: int
    parent: int | Path | None = None


def pull_seed(study_seed: int, arm: int, start: int) -> int:
    """The seed of a pull: the same on any machine, in any order, after any restart."""
    return int(np.random.SeedSequence([study_seed, arm, start]).generate_state(1)[0])


def recipe(
    arms: Mapping[int, ArmRecord], arm: int, stop: int, study_seed: int, find: Callable[[str], Path | None]
) -> tuple[Slice, ...]:
    """The pulls that bring an arm from nothing to `stop` steps, its ancestors first where it was grown from their states.

    Args:
        arms: what is known of every arm.
        arm, stop: what to rebuild.
        study_seed: the seeds of the pulls derive from it.
        find: where a checkpoint is, if it is still there.
    """
    parts: list[Slice] = []

    def rebuilt(arm: int, stop: int) -> int:
        """Add the pulls of one arm; gives the place of the last."""
        record, start = arms[arm], 0
        parent = place(record.arm.parents[0], record.born_at) if record.inherited else None
        for end in record.stops:
            if end > stop:
                break
            pull = Pull(record.arm, start, end)
            parts.append(Slice(pull, pull_seed(study_seed, arm, start), parent if start == 0 else None))
            start = end
        return len(parts) - 1

    def place(arm: int, stop: int) -> int | Path:
        """Where an arm's state at `stop` steps is: a checkpoint if it is there, else a place in the recipe."""
        record = arms[arm]
        found = find(record.checkpoint) if record.checkpoint is not None and record.steps == stop else None
        return found if found is not None else rebuilt(arm, stop)

    rebuilt(arm, stop)
    return tuple(parts)
