"""What a worker is given: a pull, its seed, where to load from and where to save."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

from ..checkpoints import remove
from ..checkpoints.recipe import Slice
from ..core import Pull


@dataclass(frozen=True, slots=True)
class Task:
    """All that a worker needs to run one pull.

    Args:
        pull: what to train.
        seed: of this pull.
        previous: the checkpoint the arm left last.
        parent: the checkpoint of the arm it was mutated from, on its first pull.
        staged: where to write a checkpoint before it is whole.
        final: where to put it then.
        room: the most bytes it may take.
        recipe: pulls to train again first. The last one of this arm gives `previous`; the last one of its parent, `parent`.
        attempt: how often the pull was started, this time included.
        lasting: the checkpoint must outlive a power cut, as the journal does; else nothing waits for the disk.
        owner: What to note about whose directory the checkpoint is in; None if it is nobody's.
        time_left: Seconds after its start at which the pull should end; its next report then ends it.
        kill_after: Seconds after its start at which the runner ends it, so that it fails.
    """

    pull: Pull
    seed: int
    previous: Path | None
    parent: Path | None
    staged: Path
    final: Path
    room: int | None = None
    recipe: tuple[Slice, ...] = ()
    attempt: int = 1
    lasting: bool = True
    owner: str | None = None
    time_left: float = math.inf
    kill_after: float = math.inf

    def discard(self) -> None:
        """Remove what an attempt left that never gave its outcome."""
        remove(self.staged)
        remove(self.final)
